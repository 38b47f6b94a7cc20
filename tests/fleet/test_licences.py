from __future__ import annotations

import pytest

from fleet.licences import is_listed, licences_of

GNU = (
    b"# This program is free software; you can redistribute it and/or modify\n"
    b"# it under the terms of the GNU %sGeneral Public License as published by\n"
    b"# the Free Software Foundation; either version %s of the License, or\n"
    b"# (at your option) any later version.\n"
)


@pytest.mark.parametrize(
    ("content", "licences"),
    [
        (b"# SPDX-License-Identifier: MIT\nimport os\n", ("MIT",)),
        (b"/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */\n",
         ("GPL-2.0-only", "Linux-syscall-note", "BSD-2-Clause")),
        (b"// SPDX-License-Identifier: LicenseRef-Corp\r\n", ("LicenseRef-Corp",)),
        (GNU % (b"", b"2"), ("GPL-2.0-or-later",)),
        (GNU % (b"Affero ", b"3"), ("AGPL-3.0-or-later",)),
        (GNU % (b"Lesser ", b"2.1"), ("LGPL-2.1-or-later",)),
        (b" * under the terms of the GNU General Public License version 2 as\n * published by the FSF.\n",
         ("GPL-2.0-only",)),
        (b"// under the terms of version 2 of the GNU General Public License as published\n", ("GPL-2.0-only",)),
        (b"# terms and conditions of the GNU General Public License, version 2\n", ("GPL-2.0-only",)),
        (b"// Licensed under the Apache License, Version 2.0 (the \"License\");\n", ("Apache-2.0",)),
        (b"# This Source Code Form is subject to the terms of the Mozilla Public\n# License, v. 2.0.\n", ("MPL-2.0",)),
        (b"Permission is hereby granted, free of charge, to any person obtaining a copy", ("MIT",)),
        (b"Redistribution and use in source and binary forms, with or without", ("BSD-2-Clause",)),
        (b"Redistribution and use in source and binary forms\n# 3. Neither the name of", ("BSD-3-Clause",)),
        (b"# This code talks about the GNU General Public License and Apache.\n", ()),
        (b"", ()),
        (b"\xff\xfe\x00", ()),
    ],
)  # fmt: skip
def test_tags_and_notices_say_the_licence_of_a_file(content: bytes, licences: tuple[str, ...]) -> None:
    assert licences_of(content) == licences


@pytest.mark.parametrize(
    ("licence", "listed", "is_one"),
    [
        ("GPL-3.0-only", "GPL-3.0", True),
        ("GPL-3.0-or-later", "gpl-3.0", True),
        ("GPL-3.0+", "GPL-3.0", True),
        ("GPL-2.0-only", "GPL-3.0", False),
        ("AGPL-3.0-only", "GPL-*", False),
        ("AGPL-3.0-only", "*GPL-*", True),
        ("LicenseRef-Corp", "LicenseRef-*", True),
        ("MIT", "GPL-3.0", False),
        ("GPL-2.0", "GPL-2.0-only", True),
        ("GPL-2.0+", "GPL-2.0-or-later", True),
        ("GPL-2.0-or-later", "GPL-2.0+", True),
        ("GPL-2.0", "GPL-2.0-or-later", False),
        ("GPL-2.0+", "GPL-2.0-only", False),
        ("LGPL-2.1", "*-only", True),
        ("MIT", "*-only", False),
    ],
)
def test_a_listed_licence_means_its_forms_too(licence: str, listed: str, is_one: bool) -> None:
    assert is_listed(licence, [listed]) is is_one
