"""Cases of the replay bench: read from a folder, replayed by the ladder, judged.

A case is a folder with ``case.toml`` and the trees ``base/``, ``main/`` and ``change/`` (and ``expected/``), each of
which holds the file at ``path`` or, where that side does not have it, does not.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from qodebase.change import Change
from qodebase.codec import convert
from qodebase.collision import Collision, Resolved, Side, Step
from qodebase.commands.bench.support.case_tree import CaseTree
from qodebase.edits import Edit
from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath
from replay_rules.hunks import lines_of

CASE = "case.toml"
_CHECK_SECONDS = 120
_SHARED_LINES = 40
"""So many equal lines at most may begin both of two blocks that stand the other way round."""


class Verdict(StrEnum):
    """What the ladder's answer to a case is."""

    RIGHT = "right"
    EQUIVALENT = "equivalent"
    DECLINED = "declined"
    WRONG = "wrong"


class Expect(StrEnum):
    """What a case asks for: the file in ``expected/``, a decline, or a result that passes ``check``."""

    FILE = "file"
    DECLINE = "decline"
    CHECK = "check"


class NoCase(QodebaseError):
    """A folder that holds no cases, or a case that lacks a part."""


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """What ``case.toml`` says.

    Attributes:
        kind: the kind of collision; where a rule bears this name, it is tried whatever the path.
        path: the path that collided, in ``base/``; main or the change may have moved the file.
        expect: what the answer must be.
        check: a shell command or a list of words that runs where the result lies, beside main's other files.
        rules: rules to try although the path is none of theirs.
        idempotent: what two made alike is meant once.
        modes: octal file modes by tree, instead of those of the files.
        order_matters: two blocks that were put at one place may not stand the other way round.
        origin: ``from`` in the file; what kind of real merge a case is rewritten from, empty where it is made up.
    """

    kind: str
    path: RepoPath
    expect: Expect
    check: str | tuple[str, ...] = ""
    rules: tuple[str, ...] = ()
    idempotent: bool = False
    modes: dict[str, str] = {}
    order_matters: bool = False
    origin: str = msgspec.field(default="", name="from")


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a case came to: the verdict, the ladder's steps with the microseconds of each, and why it is so."""

    name: str
    kind: str
    trap: bool
    verdict: Verdict
    by: str
    why: str
    steps: tuple[tuple[str, str, float], ...]


def shipped() -> Path:
    """Return the folder of the cases that the package carries."""
    import replay_rules

    return Path(next(iter(replay_rules.__path__))) / "corpus"


def folders(corpus: Path) -> list[Path]:
    """Return the folders of a corpus that hold a case, sorted by path.

    Raises:
        NoCase: there are none.
    """
    found = sorted(file.parent for file in corpus.rglob(CASE))
    if not found:
        raise NoCase(f"no cases in {corpus}", hint=f"A case is a folder with {CASE}, base/, main/ and change/.")
    return found


def read_case(folder: Path) -> tuple[Case, Collision]:
    """Read a case and the collision that it holds.

    Raises:
        QodebaseError: ``case.toml`` is not as `Case` says.
    """
    file = folder / CASE
    try:
        words = tomllib.loads(file.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise NoCase(f"{file}: {error}") from None
    case = convert(words, Case, source=str(file))
    sides = [_side(folder, tree, case, case.path) for tree in ("base", "main", "change")]
    if all(side.content is None for side in sides):
        raise NoCase(f"{file}: no tree has {case.path.decode(errors='replace')}")
    collision = Collision(path=case.path, base=sides[0], main=sides[1], change=sides[2], idempotent=case.idempotent)
    return case, _followed(folder, collision)


def _followed(folder: Path, collision: Collision) -> Collision:
    """Return the collision at the path to which main or the change moved the file, where that is certain."""
    from replay_rules.placing import placed
    from replay_rules.renames import moves_between

    gone = [side.content is None for side in (collision.main, collision.change)]
    if collision.base.content is None or not any(gone):
        return collision
    base, main, after = (CaseTree(folder / tree) for tree in ("base", "main", "change"))
    change = Change(base=base.commit, operations=())
    edits = {
        path: None if (entry := after.entry(path)) is None else Edit(entry.mode, after.read(path))
        for path in sorted({path for tree in (base, after) for path, _ in tree.walk()})
        if after.entry(path) != base.entry(path)
    }
    places = placed(
        change, edits, base, main, moves_between(base, main).target, idempotent=lambda path: collision.idempotent
    )
    place = next((place for place in places if place.path == collision.path), None)
    return collision if place is None or place.collision is None else place.collision


def run_cases(corpus: Path) -> Iterator[Outcome]:
    """Replay every case of a corpus in order of its path."""
    from replay_rules.registry import rule_names

    names = frozenset(rule_names())
    for folder in folders(corpus):
        case, collision = read_case(folder)
        yield _outcome(folder, str(folder.relative_to(corpus)), case, collision, names)


def is_equivalent(collision: Collision, result: bytes, expected: bytes, *, order_matters: bool = False) -> bool:
    """Return whether two contents mean the same: the same data, the same code, or two inserted blocks swapped."""
    same = _same_data(collision.path, result, expected) or _same_code(collision.path, result, expected)
    return same or (not order_matters and _swapped(collision, lines_of(result), lines_of(expected)))


def _outcome(folder: Path, name: str, case: Case, collision: Collision, rules: frozenset[str]) -> Outcome:
    from replay_rules.ladder import climb

    climbed = climb(collision, _rules(case, collision.path, rules))
    steps = tuple(_timed(collision, step) for step in climbed.steps)
    verdict, why = _judged(folder, case, collision, climbed.resolved)
    return Outcome(
        name=name,
        kind=case.kind,
        trap=case.expect is Expect.DECLINE,
        verdict=verdict,
        by=climbed.steps[-1].by if climbed.resolved else "",
        why=why or "; ".join(f"{step.by}: {step.declined}" for step in climbed.steps if step.declined),
        steps=steps,
    )


def _rules(case: Case, path: RepoPath, names: frozenset[str]) -> Sequence[str]:
    from replay_rules.registry import chooser

    named = {case.kind.lower().replace(" ", "-").replace("_", "-")} & names
    bind = dict.fromkeys((*case.rules, *sorted(named)), ("*",))
    return chooser((), bind)(path)


def _timed(collision: Collision, step: Step) -> tuple[str, str, float]:
    from replay_rules.ladder import redo

    start = time.perf_counter()
    redo(collision, step.by)
    return step.by, step.declined, (time.perf_counter() - start) * 1e6


def _judged(folder: Path, case: Case, collision: Collision, resolved: Resolved | None) -> tuple[Verdict, str]:
    if resolved is None:
        return Verdict.DECLINED, ""
    if case.expect is Expect.DECLINE:
        return Verdict.WRONG, "resolved what had to be declined"
    if case.expect is Expect.CHECK:
        return _checked(folder, case, collision.path, resolved)
    expected = _side(folder, "expected", case, collision.path)
    if expected.content is None:
        raise NoCase(f"{folder}: expected/ has no {collision.path.decode(errors='replace')}")
    if expected.mode != resolved.mode:
        return Verdict.WRONG, f"file mode {resolved.mode:o} instead of {expected.mode:o}"
    if expected.content == resolved.content:
        return Verdict.RIGHT, ""
    if is_equivalent(collision, resolved.content, expected.content, order_matters=case.order_matters):
        return Verdict.EQUIVALENT, ""
    return Verdict.WRONG, "another content than expected"


def _side(folder: Path, tree: str, case: Case, path: RepoPath) -> Side:
    file = folder / tree / path.decode()
    stated = case.modes.get(tree)
    if file.is_symlink():
        return Side(content=str(file.readlink()).encode(), mode=0o120000)
    if not file.is_file():
        return Side(content=None)
    mode = int(stated, 8) if stated else 0o100755 if file.stat().st_mode & 0o100 else 0o100644
    return Side(content=file.read_bytes(), mode=mode)


def _checked(folder: Path, case: Case, path: RepoPath, resolved: Resolved) -> tuple[Verdict, str]:
    with tempfile.TemporaryDirectory(prefix="qodebase-case-") as scratch:
        if (folder / "main").is_dir():
            shutil.copytree(folder / "main", scratch, dirs_exist_ok=True)
        file = Path(scratch, path.decode())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(resolved.content)
        file.chmod(resolved.mode & 0o777)
        words = ["sh", "-c", case.check] if isinstance(case.check, str) else list(case.check)
        programs = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        try:
            ran = subprocess.run(
                words,
                cwd=scratch,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_CHECK_SECONDS,
                env={"PATH": programs, "HOME": scratch, "PYTHONDONTWRITEBYTECODE": "1"},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Verdict.WRONG, f"the check did not run: {error}"
    if ran.returncode == 0:
        return Verdict.RIGHT, ""
    said = (ran.stderr or ran.stdout).decode(errors="replace").strip().splitlines()
    return Verdict.WRONG, f"the check failed: {said[-1] if said else ran.returncode}"


def _same_data(path: RepoPath, one: bytes, other: bytes) -> bool:
    from replay_rules import json_keys, toml_keys, yaml_keys
    from replay_rules.keyed import CannotMerge

    loaders = {b"json": json_keys.load, b"toml": toml_keys.load, b"yaml": yaml_keys.load, b"yml": yaml_keys.load}
    load = loaders.get(path.rpartition(b".")[2])
    if load is None:
        return False
    try:
        left, right = load(one), load(other)
    except CannotMerge:
        return False
    return bool(left == right) and repr(_sorted(left)) == repr(_sorted(right))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(((repr(key), _sorted(inner)) for key, inner in value.items()), key=lambda pair: pair[0])
    return [_sorted(inner) for inner in value] if isinstance(value, list) else value


def _same_code(path: RepoPath, one: bytes, other: bytes) -> bool:
    from replay_rules.grammars import language_of
    from replay_rules.parsing import NoGrammar, parse

    language = language_of(path)
    if language is None:
        return False
    if language == "python":
        try:
            return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
        except (SyntaxError, ValueError, RecursionError):
            return False
    try:
        trees = [parse(language, content) for content in (one, other)]
    except NoGrammar:
        return False
    words = [[tree.content[leaf.start : leaf.end] for leaf in tree.leaves()] for tree in trees]
    return not any(tree.has_error for tree in trees) and words[0] == words[1]


def _swapped(collision: Collision, result: list[bytes], expected: list[bytes]) -> bool:
    """Return whether the two differ only in the order of a block of main and a block of the change, both new."""
    if len(result) != len(expected):
        return False
    head = 0
    while head < len(result) and result[head] == expected[head]:
        head += 1
    tail = 0
    while tail < len(result) - head and result[-1 - tail] == expected[-1 - tail]:
        tail += 1
    base, main, change = (_written(side.content or b"") for side in (collision.base, collision.main, collision.change))
    for start in range(head, max(-1, head - _SHARED_LINES), -1):
        middle, other = result[start : len(result) - tail], expected[start : len(expected) - tail]
        for cut in range(1, len(middle)):
            if middle[cut:] + middle[:cut] != other:
                continue
            first, second = _written(b"".join(middle[:cut])), _written(b"".join(middle[cut:]))
            if first in base or second in base or not (first.strip() and second.strip()):
                continue
            if (first in main and second in change) or (first in change and second in main):
                return True
    return False


def _written(content: bytes) -> bytes:
    """Return the lines that are not blank, one after the other."""
    return b"\n" + b"".join(line.rstrip() + b"\n" for line in lines_of(content) if line.strip())
