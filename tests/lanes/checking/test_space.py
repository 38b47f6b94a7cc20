from __future__ import annotations

import os
import tempfile

import pytest

from lanes.checking.sandbox import available
from lanes.checking.space import space_for_checks


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no /dev/shm")
def test_a_temporary_folder_that_the_sandbox_covers_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")
    with space_for_checks() as space:
        assert not space.is_relative_to("/dev")
    assert "No such file" not in available()
