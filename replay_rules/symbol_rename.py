"""Rule ``symbol-rename``: one side renamed a definition, the other edited the file; the name is changed there again.

The renamed base is where both sides meet: the edit, renamed, is merged into what the renamer made of it. Invariant: the
old name is gone from the renamer's version, the new one was on neither other side, and the old name stands nowhere in
the edit where it may be something else (a parameter, an attribute, a target) more often than in the base. In the result
the old name is gone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from qodebase.collision import Collision, Declined, Resolved, Side
from replay_rules.bindings import held, imported_anywhere
from replay_rules.file_mode import merged_mode
from replay_rules.invariants import sound_merge
from replay_rules.kept import kept
from replay_rules.parsing import NoGrammar, Parsed, parsed_once
from replay_rules.parts import grammar_of
from replay_rules.pieces import asked
from replay_rules.shapes import is_comment

if TYPE_CHECKING:
    from tree_sitter import Node

APPLIES = ("*.py", "*.pyi", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts")
ORDER = 100

_NAMES = ("identifier", "property_identifier", "type_identifier", "private_property_identifier")
_SHORT = ("shorthand_property_identifier", "shorthand_property_identifier_pattern")
_DEFINED = (
    "function_definition",
    "class_definition",
    "function_declaration",
    "generator_function_declaration",
    "class_declaration",
    "interface_declaration",
    "type_alias_declaration",
    "enum_declaration",
    "method_definition",
)
_STRINGS = ("string", "template_string")
_APART = bytes(byte if bytes([byte]).isalnum() or byte == ord("_") else ord(" ") for byte in range(256))
_RISKY = frozenset({"left", "name", "attribute", "property", "key", "pattern", "alias"})


class _Rename(NamedTuple):
    old: bytes
    new: bytes
    comments: bool
    strings: bool


def rule(collision: Collision) -> Resolved | Declined:
    r"""Rename again what the other side wrote.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"def old(x):\n    return x\n"
    >>> change = base + b"\n\ndef user():\n    return old(1)\n"
    >>> sides = [Side(content=text) for text in (base, base.replace(b"old", b"new"), change)]
    >>> result = rule(Collision(path=RepoPath(b"m.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> result.content == change.replace(b"old", b"new")
    True
    """
    language, mode = grammar_of(collision.path), merged_mode(collision)
    contents = [side.content for side in (collision.base, collision.main, collision.change)]
    known = [content for content in contents if content is not None]
    if language is None or isinstance(mode, Declined) or len(known) < 3 or not _words_gone(*known):
        return Declined(why="no rename to be seen: model")
    try:
        base, main, change = (parsed_once(language, content) for content in known)
    except NoGrammar as missing:
        return Declined(why=str(missing))
    if base.has_error or main.has_error or change.has_error:
        return Declined(why="a version does not parse: model")
    whys = []
    for renamer, other, main_renamed in ((main, change, True), (change, main, False)):
        found = _renamed(base, renamer)
        if isinstance(found, Declined):
            whys.append(found.why)
            continue
        content = _again(collision, base, renamer, other, found, main_renamed=main_renamed)
        if isinstance(content, Declined):
            return content
        return Resolved(content=content, mode=mode)
    return Declined(why=max(whys, key=len))


def dangling(language: str, base: bytes, result: bytes, left: frozenset[bytes] = frozenset()) -> str:
    """Return the name that a result still uses after its only definition went away, or the empty text.

    This is what a merge of a rename with a new caller looks like, and lines cannot show it. Of imports and constants,
    which a file may have from elsewhere too, only those count that are among ``left``: words that a side gave up.
    """
    return next(_dangling(language, base, result, left), b"").decode(errors="replace")


def _dangling(language: str, base: bytes, result: bytes, left: frozenset[bytes]) -> Iterator[bytes]:
    gone = _defined(language, base) - _defined(language, result)
    gone |= (held(language, base) & left) - held(language, result)
    gone = frozenset(one for one in gone if one in result and re.search(rb"\b" + re.escape(one) + rb"\b", result))
    if gone:
        gone -= imported_anywhere(language, result)
    for name in sorted(gone):
        after = parsed_once(language, result)
        uses = [node for node in after.nodes("identifier") if after.text(node) == name]
        if uses and not any(_context(node)[1] in _RISKY or _binds(node) for node in uses):
            yield name


def stale_use(collision: Collision, result: bytes) -> str:
    """Return why a result is doubted where one side renamed what the other uses anew, or the empty text."""
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    language = grammar_of(collision.path)
    if language is None or base is None or main is None or change is None or result in (main, change):
        return ""
    left = _words_gone(base, main, change)
    for name in _dangling(language, base, result, left) if left else ():
        if not any(_has_elsewhere(language, side, result, name) for side in (main, change)):
            return f"rename: {name.decode(errors='replace')} is used and no longer defined"
    return ""


def _has_elsewhere(language: str, side: bytes, result: bytes, name: bytes) -> bool:
    """Return whether a side uses a name wherever the result does and defines it no more: it has it from elsewhere.

    That is what a definition that moved to another file looks like, where files share names.
    """
    if name in _defined(language, side) or name in held(language, side):
        return False
    word = re.compile(rb"\b" + re.escape(name) + rb"\b")
    return not Counter(filter(word.search, result.split(b"\n"))) - Counter(side.split(b"\n"))


def _words_gone(base: bytes, main: bytes, change: bytes) -> frozenset[bytes]:
    """Return the words of the base that a side lacks: without one nothing was renamed."""
    lines = frozenset(base.split(b"\n"))
    return _given_up(lines, main) | _given_up(lines, change)


def _given_up(base: frozenset[bytes], side: bytes) -> frozenset[bytes]:
    # A word that a side lacks stands on lines that it lacks, and these are few.
    lines = frozenset(side.split(b"\n"))
    gone = _words(b"\n".join(base - lines)) - _words(b"\n".join(lines - base))
    return gone - _words(side) if any(word in side for word in gone) else gone


def _words(content: bytes) -> frozenset[bytes]:
    return frozenset(content.translate(_APART).split())


def _renamed(base: Parsed, side: Parsed) -> _Rename | Declined:
    none = Declined(why="no rename to be seen: model")
    if base.content == side.content:
        return none
    before, after = (_defined(version.language, version.content) for version in (base, side))
    gone = {name for name in before - after if _count(side, name) == 0}
    come = {name for name in after - before if _count(base, name) == 0}
    if len(gone) != 1 or len(come) != 1:
        return none
    old, new = gone.pop(), come.pop()
    policies = []
    for kinds in (is_comment, _is_string):
        first, second = (_mentions(version, old, kinds) for version in (base, side))
        if second and second != first:
            return Declined(why="the rename left some mentions of the old name in texts: model")
        policies.append(bool(first) and not second)
    rename = _Rename(old, new, *policies)
    if not _same_definition(base, side, rename):
        return Declined(why="a definition went and another came, which may be no rename: model")
    return rename


def _again(
    collision: Collision, base: Parsed, renamer: Parsed, other: Parsed, rename: _Rename, *, main_renamed: bool
) -> bytes | Declined:
    if not _count(other, rename.old):
        return Declined(why="both sides did away with the old name: model")
    if re.search(rb"\b" + re.escape(rename.new) + rb"\b", other.content):
        return Declined(why="the new name is taken on the other side: model")
    if any(other.text(node) == rename.old for node in other.nodes(*_SHORT)):
        return Declined(why="the old name is a key, too: model")
    risky = [_risky(version, rename.old) for version in (base, other)]
    if risky[1] - risky[0]:
        return Declined(why="the other side gives the old name another meaning: model")
    for kinds, again in ((is_comment, rename.comments), (_is_string, rename.strings)):
        first, second = (_mentions(version, rename.old, kinds) for version in (base, other))
        if second > first and not (again and first):
            return Declined(why="the other side mentions the old name in a text: model")
    middle, edited = _apply(base, rename), _apply(other, rename)
    if edited == middle:
        return renamer.content
    if renamer.content == middle:
        return edited
    sides = (renamer.content, edited) if main_renamed else (edited, renamer.content)
    outcome = sound_merge(
        Collision(
            path=collision.path,
            base=Side(content=middle),
            main=Side(content=sides[0]),
            change=Side(content=sides[1]),
            idempotent=collision.idempotent,
        )
    )
    if isinstance(outcome, Declined):
        return Declined(why=f"the rename is clear, and beside it {outcome.why}: model")
    if _count(parsed_once(base.language, outcome.content), rename.old):
        return Declined(why="the old name would stay: model")
    return outcome.content


def _apply(parsed: Parsed, rename: _Rename) -> bytes:
    word = re.compile(rb"\b" + re.escape(rename.old) + rb"\b")
    edits = [(node.start_byte, node.end_byte) for node in parsed.nodes(*_NAMES) if parsed.text(node) == rename.old]
    texts: list[Node] = []
    if rename.comments:
        texts += parsed.comments()
    if rename.strings:
        texts += [node for node in parsed.nodes(*_STRINGS) if _is_string(node)]
    for node in texts:
        edits += [
            (node.start_byte + found.start(), node.start_byte + found.end())
            for found in word.finditer(parsed.text(node))
        ]
    out = []
    at = 0
    for start, end in sorted(set(edits)):
        out += [parsed.content[at:start], rename.new]
        at = end
    return b"".join([*out, parsed.content[at:]])


def _same_definition(base: Parsed, side: Parsed, rename: _Rename) -> bool:
    """Return whether the definition is the old one but for its name."""
    old = [base.text(node) for node in _definitions(base) if _name(base, node) == rename.old]
    new = [side.text(node) for node in _definitions(side) if _name(side, node) == rename.new]
    word = re.compile(rb"\b" + re.escape(rename.old) + rb"\b")
    return len(old) == len(new) == 1 and word.sub(rename.new, old[0]) == word.sub(rename.new, new[0])


def _definitions(parsed: Parsed) -> list[Node]:
    return parsed.nodes(*_DEFINED)


def _name(parsed: Parsed, node: Node) -> bytes:
    name = node.child_by_field_name("name")
    return parsed.text(name) if name is not None else b""


@kept(1 << 20)
def _defined(language: str, content: bytes) -> frozenset[bytes]:
    return frozenset().union(*(names for _, names in asked(language, content, _defined_in)))


def _defined_in(parsed: Parsed) -> frozenset[bytes]:
    return frozenset(_name(parsed, node) for node in _definitions(parsed))


def _count(parsed: Parsed, name: bytes) -> int:
    if name not in parsed.content:
        return 0
    return sum(1 for node in parsed.nodes(*_NAMES, *_SHORT) if parsed.text(node) == name)


def _mentions(parsed: Parsed, name: bytes, kinds: Callable[[Node], bool]) -> int:
    if name not in parsed.content:
        return 0
    nodes = parsed.comments() if kinds is is_comment else [node for node in parsed.nodes(*_STRINGS) if kinds(node)]
    word = re.compile(rb"\b" + re.escape(name) + rb"\b")
    return sum(len(word.findall(parsed.text(node))) for node in nodes)


def _is_string(node: Node) -> bool:
    return node.type in _STRINGS and not any(
        child.type in ("interpolation", "template_substitution") for child in node.children
    )


def _risky(parsed: Parsed, name: bytes) -> Counter[tuple[str, str]]:
    """Count where a name is bound, or is somebody's attribute, by the kind of place."""
    nodes = [node for node in parsed.nodes(*_NAMES) if parsed.text(node) == name]
    places = [(_context(node), _binds(node)) for node in nodes]
    return Counter(place for place, binds in places if binds or place[1] in _RISKY)


def _context(node: Node) -> tuple[str, str]:
    above = node.parent
    if above is None:
        return "", ""
    for field in ("left", "name", "attribute", "property", "key", "pattern", "alias"):
        if above.child_by_field_name(field) == node:
            return above.type, field
    return above.type, ""


def _binds(node: Node) -> bool:
    above = node.parent
    return above is not None and ("parameter" in above.type or "pattern" in above.type or "import" in above.type)
