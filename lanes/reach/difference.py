"""What a change gives another meaning in Python modules: the names whose mention matters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from lanes.reach.outline import Outline, outline_of
from lanes.reach.statement import Words
from qodebase.edits import Edit
from qodebase.paths import RepoPath

Named = Mapping[RepoPath, Words]
"""The names that got another meaning, by file; a file that is not there changed in more than that."""

FileAt = Callable[[RepoPath], Edit | None]
"""Return the file at a path; None where there is nothing, or a link, a folder or a submodule."""


def named_changes(paths: Iterable[RepoPath], before: FileAt, after: FileAt) -> Named:
    """Return which of these paths hold files that changed in nothing but what some names mean."""
    found: dict[RepoPath, Words] = {}
    for path in paths:
        if not path.endswith(b".py") or (was := before(path)) is None or (now := after(path)) is None:
            continue
        names = names_changed(was.content, now.content) if was.mode == now.mode else None
        if names is not None:
            found[path] = names
    return found


def names_changed(before: bytes, after: bytes) -> Words | None:
    """Return the names that mean something else in a module now; None where more than that may be different.

    They may be bound to something else or anew. All that runs when the module is imported must be as it was and stand
    in its old order, and no name may be gone: others could import it and fail.
    """
    if before == after:
        return frozenset()
    old, new = outline_of(before), outline_of(after)
    if old is None or new is None:
        return None
    was = {one.name: one for one in old.statements if one.name}
    now = {one.name: one for one in new.statements if one.name}
    if not was.keys() <= now.keys() or old.doc != new.doc:
        return None
    if list(_order(old, was)) != list(_order(new, was)):
        return None
    return frozenset(name for name, one in now.items() if name not in was or was[name].text != one.text)


def _order(outline: Outline, names: Collection[str]) -> Iterator[object]:
    """Yield what is evaluated when a module is imported, and between that the names, in order."""
    for one in outline.statements:
        if not one.name:
            yield one.text
            continue
        if one.head:
            yield one.head
        if one.name in names:
            yield one.name
