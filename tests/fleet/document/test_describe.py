from __future__ import annotations

import ast
import re
import sysconfig
import warnings
from collections import Counter
from pathlib import Path

import pytest

from fleet.jobs.document.describe import describe
from fleet.jobs.document.languages.outline import Outline
from fleet.jobs.document.languages.outline_ecmascript import outline as script
from fleet.jobs.document.languages.outline_python import outline as module
from fleet.jobs.document.languages.outline_text import is_safe
from fleet.jobs.document.usage import Neighbour, usage_of

TREE = b'''
from .widgets import Canvas
import os

ICONS = "icons"


def list_icons(folder=ICONS):
    """Show every icon of a folder."""


class TreeNode(Canvas):
    def draw(self, x, y): pass
    def select(self): raise NodeError()


class NodeError(ValueError):
    pass


if __name__ == "__main__":
    main()
'''


def test_a_module_is_described_by_its_symbols_its_entry_and_its_users() -> None:
    text = describe(b"gui/tree.py", module(TREE), (b"gui/app.py", b"tests/test_tree.py", b"a.py"))
    assert text == (
        "Tree of gui: list_icons, TreeNode and NodeError.\n"
        "\n"
        "- list_icons(folder=ICONS): Show every icon of a folder.\n"
        "- TreeNode(Canvas): methods draw and select.\n"
        "- NodeError(ValueError): raised by TreeNode.\n"
        '- Constants: ICONS = "icons".\n'
        "\n"
        "Run as a script, it calls main. Builds on .widgets (Canvas). Used by a, gui.app and tests.test_tree."
    )


def test_the_first_comment_of_a_file_is_its_summary() -> None:
    text = describe(b"till.py", module(b"# till.py: keep the books of a shop\n\nimport a\ndef f(): pass\n"))
    assert text == "Keep the books of a shop.\n\n- f().\n\nBuilds on a."


def test_a_file_about_one_class_is_summarised_by_its_sentence() -> None:
    source = b"""
class Till:
    '''Keep the books.'''
    def open(self, key):
        '''Open it with a key.'''
    def shut(self): pass
"""
    assert describe(b"shop/till.py", module(source)) == (
        "Keep the books.\n\n- open(key): Open it with a key.\n- Further methods: shut."
    )


def test_an_undocumented_class_is_named_in_words() -> None:
    source = (
        b"import { Disposable } from './lifecycle.js';\nexport class StickyScroll extends Disposable { show() {} }\n"
    )
    assert describe(b"src/editor/sticky.js", script(source), (b"src/view.js",)) == (
        "Sticky scroll of editor.\n"
        "\n"
        "- StickyScroll(Disposable): method show.\n"
        "\n"
        "Builds on lifecycle (Disposable). Used by src/view.js."
    )


def test_a_test_module_says_what_it_tests() -> None:
    source = b"""
import unittest
from shop.till import Till

class TillTests(unittest.TestCase):
    def test_opens_with_a_key(self): pass
    def test_shut(self):
        '''Check that a shut till stays shut.'''
def helper(): pass
"""
    assert describe(b"tests/test_till.py", module(source)) == (
        "Tests for shop.till: 2 tests.\n"
        "\n"
        "- TillTests: opens with a key and a shut till stays shut.\n"
        "- Helpers: helper.\n"
        "\n"
        "Builds on shop.till (Till)."
    )


def test_a_package_says_what_it_passes_on() -> None:
    source = b"from shop.till import Till, Key\nfrom .stock import count\n__all__ = ['Till', 'Key', 'count']\n"
    uses = (Neighbour(path=b"shop/till.py", summary="Keep the books."),)
    assert describe(b"shop/__init__.py", module(source), (), uses) == (
        "Public interface of shop: Till, Key and count.\n"
        "\n"
        "- from shop.till: Till and Key. Keep the books.\n"
        "- from stock: count.\n"
        "\n"
        "Builds on shop.till (Till and Key) and .stock (count)."
    )


def test_a_migration_says_what_it_does() -> None:
    source = b"""
from django.db import migrations, models
class Migration(migrations.Migration):
    initial = True
    dependencies = [("auth", "0001_initial")]
    operations = [
        migrations.CreateModel(name="Book", fields=[("id", models.AutoField()), ("title", models.CharField())]),
        migrations.AddField(model_name="author", name="age", field=models.IntegerField(default=0)),
    ]
"""
    assert describe(b"library/migrations/0002_book.py", module(source)) == (
        "Migration 0002_book of library: create model Book and add field author.age.\n"
        "\n"
        "Operations, in order: create model Book with 2 fields (id and title) and add field author.age "
        "(IntegerField with default=0). Runs after auth.0001_initial. Marked as an initial migration."
    )


def test_formats_of_a_locale_say_what_they_set() -> None:
    source = (
        b'DATE_FORMAT = "j. F Y"\nDECIMAL_SEPARATOR = ","\nNUMBER_GROUPING = 3\nDATE_INPUT_FORMATS = ["%d", "%m"]\n'
    )
    assert describe(b"conf/locale/is/formats.py", module(source)) == (
        "Date, time and number formats of the locale is.\n"
        "\n"
        'Sets DATE_FORMAT "j. F Y", DECIMAL_SEPARATOR "," and NUMBER_GROUPING 3. '
        "Accepted input formats: DATE_INPUT_FORMATS (2)."
    )


def test_routes_and_commands_are_described_by_what_they_declare() -> None:
    urls = b"""
from django.urls import path
app_name = "shop"
urlpatterns = [path("till/", views.till, name="till"), path("", x)]
"""
    assert describe(b"shop/urls.py", module(urls)) == (
        "URL configuration of shop (2 patterns).\n"
        "\n"
        "Routes: till/ (till) and x. The namespace is shop.\n"
        "\n"
        "Builds on django.urls (path)."
    )
    command = b"""
class Command(BaseCommand):
    help = 'Close the till.'
    def add_arguments(self, p):
        p.add_argument('--now')
"""
    assert describe(b"shop/management/commands/close.py", module(command)) == (
        "Management command close: Close the till.\n\nTakes the arguments --now."
    )


def test_a_language_definition_counts_its_words_and_states() -> None:
    source = b"""
const conf = { comments: { lineComment: "#" }, brackets: [["{", "}"]] };
const language = { tokenPostfix: ".ini", keywords: ["if", "then"], tokenizer: { root: [], text: [] } };
export { conf, language };
"""
    assert describe(b"languages/ini/ini.js", script(source)) == (
        "Language definition of ini: editor configuration and tokenizer rules.\n"
        "\n"
        "- conf: comments (lineComment) and brackets.\n"
        "- language: 2 entries in keywords (if, then).\n"
        "- tokenizer: root and text (2 states).\n"
        '- Settings: tokenPostfix ".ini".'
    )


def test_registrations_and_loaders_say_what_they_bring_in() -> None:
    register = b"""
import { registerLanguage } from '../r.js';
registerLanguage({ id: 'ini', extensions: ['.ini'], loader: () => import('./ini.js') });
"""
    assert describe(b"ini/register.js", script(register)).startswith(
        "Register language ini, loading ini on first use.\n\nExtensions .ini.\n"
    )
    uses = (Neighbour(path=b"editor/undo.js", labels=("Cursor Undo [cursorUndo]",)),)
    assert describe(b"features/undo/register.js", script(b"import '../../editor/undo.js';\n"), (), uses) == (
        "Register undo by loading undo.\n\n- editor/undo.js: registers Cursor Undo [cursorUndo]."
    )


def test_a_file_of_few_facts_gets_a_short_header() -> None:
    assert describe(b"a/b.py", module(b"x = 1\n")) == "B of a: x.\n\n- x = 1."
    assert describe(b"b.js", script(b"")) == "B."


def test_tags_are_undone_where_a_documentation_tool_would_read_them() -> None:
    source = b"/** Use @deprecated things with care. */\nexport function a() {}\n"
    assert describe(b"a.js", script(source)).startswith("Use deprecated things with care.\n")


def test_a_summary_that_reads_like_a_coding_line_is_written_otherwise() -> None:
    assert describe(b"encoding.py", module(b"class A: pass\nclass B: pass\n")) == "Encoding - A and B.\n\n- A and B."


@pytest.mark.parametrize("content", [b"", b"\x00", bytes(range(256)) * 9, b"(" * 9_000, b"class" * 99, b"'''" * 99])
def test_any_outline_and_any_path_give_a_safe_text(content: bytes) -> None:
    for path in (
        b"",
        b"/",
        b"\xff.py",
        b"a\nb.py",
        b"__init__.py",
        b"x/__main__.py",
        b"index.ts",
        b".py",
        b'*/ """.js',
    ):
        for found in (module(content), script(content), Outline(language="python")):
            text = describe(path, found, (path, b"\xff\xfe/*/x"), (), (b"\xff",))
            assert text.strip()
            assert all(is_safe(line) for line in text.split("\n"))


def stdlib_sample(most: int) -> dict[bytes, bytes]:
    root = Path(sysconfig.get_path("stdlib"))
    paths = sorted(path for path in root.rglob("*.py") if "site-packages" not in path.parts)
    return {bytes(path.relative_to(root)): path.read_bytes() for path in paths[:: max(1, len(paths) // most)]}


def undocumented(content: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return False
    return bool(tree.body) and ast.get_docstring(tree) is None


NAME = re.compile(r"[A-Za-z_$][\w$]*")


def skeleton(text: str, content: bytes, path: bytes) -> str:
    """Return a header without the names of its file: every word that its code or its path holds, and numbers."""
    code = re.sub(rb"#.*|\"\"\".*?\"\"\"", b"", content, flags=re.DOTALL if b'"""' in content else 0)
    names = set(NAME.findall(code.decode(errors="replace"))) | set(NAME.findall(path.decode()))
    return re.sub(r"\d+", "N", NAME.sub(lambda found: "N" if found[0] in names else found[0], text))


def check_headers(files: dict[bytes, bytes], most_alike: float) -> None:
    outlines = {path: module(content) for path, content in files.items()}
    usage = usage_of(outlines)
    skeletons: Counter[str] = Counter()
    for path, content in files.items():
        if not undocumented(content):
            continue
        facts = (path, outlines[path], usage.used_by(path), usage.uses(path), usage.siblings(path))
        text = describe(*facts)
        assert text == describe(*facts)
        summary, _, rest = text.partition("\n")
        assert len(summary) < 240
        assert summary[-1] in ".!?)'\"", summary
        assert not rest or rest.startswith("\n")
        assert all(is_safe(line) and line == line.strip() for line in text.split("\n"))
        skeletons[skeleton(text, content, path)] += 1
    total = sum(skeletons.values())
    alike = sum(count - 1 for count in skeletons.values())
    assert total > 2
    assert alike <= most_alike * total, skeletons.most_common(5)


def test_headers_of_the_standard_library_are_safe_the_same_each_time_and_hardly_alike() -> None:
    check_headers(stdlib_sample(60), 0.08)


@pytest.mark.full
def test_headers_of_the_whole_standard_library_are_hardly_alike() -> None:
    check_headers(stdlib_sample(1 << 20), 0.08)
