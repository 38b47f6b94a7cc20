"""Find what is wrong with a landing whatever main holds."""

from __future__ import annotations

from qodebase.change import EXECUTABLE, REGULAR, SUBMODULE
from qodebase.paths import RepoPath, path_text
from qodebase.trunk.batch import Edit, Landing, LandingRefused
from qodebase.trunk.naming import fault_of_edit, fault_of_path


def refuse_broken(landing: Landing) -> None:
    """Find what is wrong with a landing whatever main holds.

    Raises:
        LandingRefused: a path or mode that git would not take, a path that is file and folder at once, an edit
            without an expectation, an edit that is not one.
    """
    written = []
    for path, edit in landing.edits.items():
        _refuse_path(path, REGULAR if edit is None else edit.mode)
        if path not in landing.expects:
            raise LandingRefused(f"{path_text(path)} is edited without saying what main must hold there")
        if edit is not None:
            _refuse_edit(path, edit)
            written.append(path)
    for shared in landing.shared:
        _refuse_path(shared.path, REGULAR if shared.mode is None else shared.mode)
        if shared.mode not in (None, REGULAR, EXECUTABLE):
            raise LandingRefused(f"{path_text(shared.path)}: a shared path is a file, not {shared.mode:o}")
        written.append(shared.path)
    names = set(written)
    if len(names) < len(written) or any(shared.path in landing.edits for shared in landing.shared):
        raise LandingRefused(f"{path_text(landing.shared[0].path)} is edited twice in one landing")
    if len(names) > 1:
        _refuse_prefixes(names)


def _refuse_path(path: bytes, mode: int) -> None:
    fault = fault_of_path(path) or fault_of_edit(path, mode)
    if fault is not None:
        raise LandingRefused(f"{path_text(path)!r} may not stand in a tree: {fault}")


def _refuse_edit(path: bytes, edit: Edit) -> None:
    if (edit.content is None) == (edit.id is None):
        raise LandingRefused(f"{path_text(path)}: an edit has either content or an id")
    if edit.mode == SUBMODULE and edit.id is None:
        raise LandingRefused(f"{path_text(path)}: a submodule is the id of a commit")
    if edit.id is not None and (len(edit.id) != 40 or edit.id.strip("0123456789abcdef")):
        raise LandingRefused(f"{path_text(path)}: {edit.id!r} is no object id")


def _refuse_prefixes(names: set[RepoPath]) -> None:
    for path in names:
        at = path.rfind(b"/")
        while at > 0:
            if path[:at] in names:
                raise LandingRefused(f"{path_text(path[:at])} would be a file and a folder at once")
            at = path.rfind(b"/", 0, at)
