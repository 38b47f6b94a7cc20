"""Changes of modules that read themselves when they are imported: each meets the test, or cannot be told by names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from meeting_world import assert_meets, of_a_module

LONGER = ("A = 1", f"A = 1{'1' * 600}")
ITS_NAME = "'mod.' + 'py'"

CASES = {
    "a row of numbers": f"import os\n\nA = 1\nSIZE = os.stat({ITS_NAME})[6]\n",
    "the same of a path": f"import pathlib\n\nA = 1\nSIZE = pathlib.Path({ITS_NAME}).stat()[6]\n",
    "an archive": "import io, zipfile\n\nA = 1\nOUT = zipfile.ZipFile(io.BytesIO(), 'w')\n"
    f"OUT.write({ITS_NAME})\nSIZE = OUT.infolist()[0].file_size\n",
    "a part of a document": "from xml.etree import ElementInclude\n\nA = 1\n"
    f"SIZE = len(ElementInclude.default_loader({ITS_NAME}, 'text'))\n",
    "a log": f"import logging\n\nA = 1\nSIZE = len(logging.FileHandler({ITS_NAME}, 'r').stream.read())\n",
    "settings of a log": f"import logging\n\nA = 1\nlogging.basicConfig(filename={ITS_NAME}, filemode='r')\n"
    "SIZE = len(logging.root.handlers[0].stream.read())\n",
    "an address": "import os, urllib.request\n\nA = 1\nPLACE = 'file://' + os.getcwd() + '/'\n"
    f"GOT = urllib.request.URLopener().retrieve(PLACE + {ITS_NAME})\nSIZE = int(GOT[1]['Content-length'])\n",
    "arguments": "import argparse\n\nA = 1\n"
    "PARSER = argparse.ArgumentParser(fromfile_prefix_chars='@')\n"
    f"SIZE = len(''.join(PARSER.parse_known_args(['@' + {ITS_NAME}])[1]))\n",
    "kinds of files": "import mimetypes\n\nA = 1\n"
    f"SIZE = max(map(len, mimetypes.MimeTypes([{ITS_NAME}]).types_map[True]))\n",
}
if sys.version_info >= (3, 14):
    # There is no opener of this name any more.
    del CASES["an address"]


@pytest.mark.parametrize("why", CASES)
def test_a_change_of_a_module_that_reads_itself_meets_the_test(why: str, tmp_path: Path) -> None:
    assert_meets(of_a_module(CASES[why], "assert mod.SIZE < 500", LONGER), tmp_path)
