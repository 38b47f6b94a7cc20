"""The rows of an edit job: what each intent is about, from path patterns or from a JSONL file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from fleet.jobs.edit.settings import Settings
from fleet.jobs.edit.texts import NoText, fault_of_entry, read, shown
from qodebase.codec import BadData, convert
from qodebase.intent import PRIORITIES
from qodebase.paths import RepoPath
from qodebase.patterns import matcher
from qodebase.ports import Tree
from qodebase.trunk.naming import fault_of_path

_GLOB = re.compile(r"[*?\[\]!]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The fields of a row that mean the same in every job file."""

    id: str
    path: str = ""
    paths: tuple[str, ...] = ()
    asked: str = ""
    scope: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    retires: tuple[str, ...] = ()
    priority: int = 100


_NAMES = tuple(one.name for one in fields(_Known))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One intent to be.

    Attributes:
        source: where it stands, for errors.
        paths: the files that it is about; its prompt shows them.
        beside: what its change may touch beside those; a path that is not there may be made.
        checks: commands, unfilled, that the gate runs.
        fields: what templates may name, beside paths and text.
        skipped: why there is nothing to be asked; empty where there is.
    """

    source: str
    id: str
    paths: tuple[RepoPath, ...]
    beside: tuple[RepoPath, ...] = ()
    asked: str = ""
    checks: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    retires: tuple[str, ...] = ()
    priority: int = 100
    fields: Mapping[str, Any] = field(default_factory=dict)
    skipped: str = ""


def read_rows(settings: Settings, tree: Tree) -> list[Row]:
    """Return the rows, in the order of the file, or of the tree.

    Raises:
        BadData: neither paths nor a file, or a row with a fault; the message names file, line and field.
    """
    if bool(settings.paths) == bool(settings.intents):
        said = "`paths` and `intents` exclude each other" if settings.paths else "which files are to be edited?"
        raise BadData(said, hint="Give --paths 'src/**/*.py', or --intents FILE.jsonl.")
    if settings.intents and settings.contains:
        raise BadData("`contains` chooses among paths, and rows name theirs", hint="Leave one of the two out.")
    beside = _matching(settings.scope, tree)
    if settings.intents:
        rows = _rows_of(Path(settings.intents), tree, beside, settings)
    else:
        rows = _rows_by_path(settings, tree, beside)
    return list(rows)


def _rows_by_path(settings: Settings, tree: Tree, beside: Sequence[RepoPath]) -> Iterator[Row]:
    excluded = matcher(settings.exclude)
    try:
        sought = re.compile(settings.contains)
    except re.error as error:
        raise BadData(f"`contains` is no regular expression: {error}") from None
    for path in _matching(settings.paths, tree):
        if excluded(path):
            continue
        why = _unfit(path, tree, settings.max_bytes)
        if settings.contains and not _holds(path, tree, sought):
            continue
        others = tuple(other for other in beside if other != path)
        yield Row(source=path.text, id=f"edit:{path.text}", paths=(path,), beside=others, skipped=why)


def _holds(path: RepoPath, tree: Tree, sought: re.Pattern[str]) -> bool:
    """Return whether a file's text holds what is sought, also where it is one that cannot be edited."""
    if fault_of_entry(tree.entry(path)):
        return False
    content = tree.read(path)
    return b"\0" not in content and sought.search(shown(content)) is not None


def _rows_of(file: Path, tree: Tree, beside: Sequence[RepoPath], settings: Settings) -> Iterator[Row]:
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise BadData(f"{file} cannot be read: {error.strerror}", hint="--intents names a JSONL file.") from None
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        source = f"{file} line {number}"
        row = _row(line, source, tree, beside, settings)
        if row.id in seen:
            raise BadData(
                f"{source}: `id` {row.id!r} stands in line {seen[row.id]} too", hint="Give each row an id of its own."
            )
        seen[row.id] = number
        yield row
    if not seen:
        raise BadData(f"{file} holds no rows", hint='A row is a line like {"id": "one", "path": "src/a.py"}.')


def _row(line: bytes, source: str, tree: Tree, beside: Sequence[RepoPath], settings: Settings) -> Row:
    try:
        given = json.loads(line)
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadData(f"{source}: it holds half of a surrogate pair", hint="Write whole characters.") from None
    except (ValueError, RecursionError) as error:
        raise BadData(f"{source}: no JSON: {error}", hint="A row is one JSON object on one line.") from None
    if not isinstance(given, dict):
        raise BadData(f"{source}: a row must be an object, not {line[:40].decode(errors='replace')}")
    if given.get("id") is None or not str(given["id"]).strip():
        raise BadData(f"{source}: no `id`", hint="Give each row an id that stays the same from run to run.")
    given["id"] = str(given["id"])
    known = convert({key: given[key] for key in _NAMES if key in given}, _Known, source=source)
    if bool(known.path) == bool(known.paths):
        raise BadData(f"{source}: a row needs `path` or `paths`, one of the two")
    if known.priority not in PRIORITIES:
        raise BadData(f"{source}: `priority` must be 0 to 255, not {known.priority}")
    paths = tuple(dict.fromkeys(_there(one, source, tree) for one in known.paths or (known.path,)))
    more = tuple(_beside(known.scope, source, tree))
    why = next((f"{path.text}: {why}" for path in paths if (why := _unfit(path, tree, settings.max_bytes))), "")
    return Row(
        source=source,
        id=known.id,
        paths=paths,
        beside=tuple(path for path in dict.fromkeys((*beside, *more)) if path not in paths),
        asked=known.asked,
        checks=known.checks,
        after=known.after,
        retires=known.retires,
        priority=known.priority,
        fields={key: value for key, value in given.items() if key not in ("path", "paths")},
        skipped=why,
    )


def _there(text: str, source: str, tree: Tree) -> RepoPath:
    """Return a path of the tree.

    Raises:
        BadData: the tree has no such file.
    """
    path = RepoPath(text.removeprefix("./").encode())
    fault = fault_of_path(path)
    if fault:
        raise BadData(f"{source}: `path` {text}: {fault}", hint="Paths are relative to the repository's root.")
    if tree.entry(path) is None:
        raise BadData(
            f"{source}: `path` {text}: there is no such file on the branch",
            hint="Paths are relative to the repository's root; a file that is to be made stands in `scope`.",
        )
    return path


def _beside(scope: Sequence[str], source: str, tree: Tree) -> Iterator[RepoPath]:
    """Yield what a row's scope names: the files of each pattern, and plain paths also where no file is there yet."""
    for one in scope:
        if _GLOB.search(one) or one.endswith("/"):
            yield from _matching((one,), tree)
            continue
        path = RepoPath(one.removeprefix("./").encode())
        fault = fault_of_path(path)
        if fault:
            raise BadData(f"{source}: `scope` {one}: {fault}", hint="Paths are relative to the repository's root.")
        yield path


def _matching(patterns: Sequence[str], tree: Tree) -> list[RepoPath]:
    if not patterns:
        return []
    wanted = matcher(patterns)
    return [path for path, _ in tree.walk() if wanted(path)]


def _unfit(path: RepoPath, tree: Tree, most: int) -> str:
    """Return why a file cannot be edited, or the empty text."""
    fault = fault_of_entry(tree.entry(path))
    if fault:
        return fault
    content = tree.read(path)
    if len(content) > most:
        return f"larger than {most} bytes"
    try:
        read(content)
    except NoText as error:
        return str(error)
    return ""
