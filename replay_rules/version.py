"""Rule ``version``: where both sides raised the same version number, the greater one stays.

A version is written as two to four numbers with dots between (``1.4``, ``v2.0.3``). Two numbers count only on a line
that has the word "version", so no measure is taken for one, and so do four that may be an address. A bare integer never
counts: a counter that two raised was raised twice. Other edits of the file must merge cleanly. Invariant: a version of
the base that stands in several places becomes the same version in all of them, and nothing but versions is chosen.
"""

from __future__ import annotations

import re

from qodebase.collision import Collision, Declined, Resolved, Side
from replay_rules.hunks import matched
from replay_rules.invariants import sound_merge

APPLIES: tuple[str, ...] = (
    *("*.py", "*.toml", "*.json", "*.cfg", "*.ini", "*.txt", "*.md", "*.rst", "*.xml", "*.yaml", "*.yml", "*.js"),
    *("*.ts", "*.rb", "*.go", "*.rs", "*.java", "*.kt", "*.kts", "*.gradle", "*.properties", "*.csproj", "*.props"),
    *("*.gemspec", "*.podspec", "*.cmake", "*.h", "*.bzl", "go.mod", "VERSION", "Dockerfile", "Makefile"),
)
ORDER: int = 700

_VERSION = re.compile(rb"(?<![\w.+/-])v?\d{1,9}(?:\.\d{1,9}){1,3}(?![\w.+]|-\w)")
_WORD = re.compile(rb"version|release", re.IGNORECASE)
_WHOLE = re.compile(rb"""(["']?)([~^]|[<>=~!]=|[<>])?\s?(v?)(\d{1,9}(?:\.\d{1,9}){2,3})(["']?)""")


def rule(collision: Collision) -> Resolved | Declined:
    """Choose the greater of two raised versions and merge the rest.

    >>> from qodebase.paths import RepoPath
    >>> sides = [Side(content=b'version = "%s"\\n' % number) for number in (b"1.4.0", b"1.4.1", b"1.5.0")]
    >>> rule(Collision(path=RepoPath(b"a.toml"), base=sides[0], main=sides[1], change=sides[2])).content
    b'version = "1.5.0"\\n'
    """
    base, main, change = (side.content for side in (collision.base, collision.main, collision.change))
    if base is None or main is None or change is None:
        return Declined(why="a version is chosen only where all three sides have the file")
    if is_locked(collision.path):
        return Declined(why="a lock file is made again by its program: author")
    before, ours, theirs = (side.splitlines(keepends=True) for side in (base, main, change))
    if not any(map(_VERSION.search, before)):
        return Declined(why="no version number: model")
    left, right = _partners(before, ours), _partners(before, theirs)
    chosen: dict[bytes, set[bytes]] = {}
    found = 0
    for at, line in enumerate(before):
        if at not in left or at not in right:
            continue
        lines = (line, ours[left[at]], theirs[right[at]])
        if line in lines[1:]:
            _remember(chosen, line, lines[1] if lines[2] == line else lines[2])
            continue
        picked = _picked(lines)
        if isinstance(picked, Declined):
            return picked
        if lines[1] == lines[2] and not collision.idempotent:
            return Declined(why="both sides raised a version to the same one, which may be meant twice: author")
        _remember(chosen, line, picked)
        before[at] = ours[left[at]] = theirs[right[at]] = picked
        found += 1
    if not found:
        return Declined(why="no version number that both sides raised: model")
    if any(len(numbers) > 1 for numbers in chosen.values()):
        return Declined(why="one version became several: author")
    return _rest(collision, before, ours, theirs)


def _remember(chosen: dict[bytes, set[bytes]], line: bytes, picked: bytes) -> None:
    for number, other in zip(_VERSION.findall(line), _VERSION.findall(picked), strict=False):
        if number != other:
            chosen.setdefault(number, set()).add(other)


def greater(base: bytes, main: bytes, change: bytes, named: bytes = b"") -> bytes | None:
    """Return the one of two whole texts, such as ``"^1.4.2"``, that holds the greater version; None if none is.

    Three or four numbers of one major version, both above the base's, in the same quotes and range sign; what an
    address may be only under a name that says version.
    """
    matches = [_WHOLE.fullmatch(side) for side in (base, main, change)]
    if not all(matches):
        return None
    shapes = {match.group(1, 2, 3, 5) for match in matches if match}
    numbers = [match.group(4) for match in matches if match]
    best = _greater(*numbers)
    if any(map(_is_address, numbers)) and not _WORD.search(named):
        return None
    if len(shapes) != 1 or best is None or numbers[1] == numbers[2]:
        return None
    return main if best == numbers[1] else change


def is_locked(path: bytes) -> bool:
    """Return whether a path is a lock file by its name."""
    name = path.rpartition(b"/")[2].lower()
    named = (b"package-lock.json", b"npm-shrinkwrap.json", b"pnpm-lock.yaml", b"go.sum", b"packages.lock.json")
    return name.endswith((b".lock", b"-lock.json")) or name in named


def _picked(lines: tuple[bytes, bytes, bytes]) -> bytes | Declined:
    """Return the line of the base with each version that both sides raised set to the greater one."""
    numbers = [_VERSION.findall(line) for line in lines]
    if len({len(found) for found in numbers}) != 1:
        return Declined(why="a line with a version has another number of them: model")
    enough = 2 if _WORD.search(lines[0]) else 3
    out: list[bytes] = []
    for base, main, change in zip(*numbers, strict=True):
        if change == base or main == base:
            out.append(main if change == base else change)
            continue
        if base.count(b".") + 1 < enough:
            return Declined(why="a number with one point is a version only beside that word: model")
        if enough > 2 and any(map(_is_address, (base, main, change))):
            return Declined(why="four small numbers are a version only beside that word, else an address: model")
        best = _greater(base.lstrip(b"v"), main.lstrip(b"v"), change.lstrip(b"v"))
        if best is None:
            return Declined(why="the versions have other majors or went down: author")
        out.append(main if best == main.lstrip(b"v") else change)
    replacing = iter(out)
    return _VERSION.sub(lambda _: next(replacing), lines[0])


def _is_address(number: bytes) -> bool:
    """Return whether a version's numbers may be those of an address of the network."""
    parts = number.lstrip(b"v").split(b".")
    return len(parts) == 4 and all(int(part) < 256 for part in parts)


def _greater(base: bytes, main: bytes, change: bytes) -> bytes | None:
    before, ours, theirs = (tuple(int(part) for part in side.split(b".")) for side in (base, main, change))
    if len({len(before), len(ours), len(theirs)}) != 1 or ours[0] != theirs[0] or min(ours, theirs) <= before:
        return None
    return main if ours >= theirs else change


def _partners(base: list[bytes], side: list[bytes]) -> dict[int, int]:
    """Map lines of the base to those of a side that are equal but for their versions."""
    before, after = ([_VERSION.sub(b"\0", line) for line in lines] for lines in (base, side))
    return {block.base + step: block.side + step for block in matched(before, after) for step in range(block.size)}


def _rest(collision: Collision, base: list[bytes], main: list[bytes], change: list[bytes]) -> Resolved | Declined:
    rest = Collision(
        path=collision.path,
        base=Side(content=b"".join(base), mode=collision.base.mode),
        main=Side(content=b"".join(main), mode=collision.main.mode),
        change=Side(content=b"".join(change), mode=collision.change.mode),
        idempotent=collision.idempotent,
    )
    if main == change and base != main and not collision.idempotent:
        return Declined(why="beside the version both sides made the same edit: author")
    outcome = sound_merge(rest)
    return Declined(why=f"beside the version: {outcome.why}") if isinstance(outcome, Declined) else outcome
