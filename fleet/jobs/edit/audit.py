"""The edit job's promise, and its audit: scope kept, and every edited file still the text that it was."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.jobs.edit.texts import fault_of_entry, fault_of_form
from fleet.unshared import Unshared
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from qodebase.ports import Landing, Tree


class EditAudit(Unshared):
    """Prove of each landing that it edits files of its scope, takes none away, and keeps their form."""

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        """Say what is wrong with what a landing did."""
        allowed = {*landing.intent.scope, *landing.scope}
        for path in landing.change.paths:
            if path not in allowed:
                return f"edits {path.text}, which is outside its scope"
        for path in landing.scope:
            was, now = before.entry(path), after.entry(path)
            if was == now:
                continue
            if now is None:
                return f"takes {path.text} away"
            if fault_of_entry(now) or (was is not None and was.mode != now.mode):
                return f"gives {path.text} another mode"
            fault = fault_of_form(b"" if was is None else before.read(path), after.read(path))
            if fault:
                return f"{path.text} {fault}"
        return ""


def fault_of_edits(edits: Mapping[RepoPath, Edit | None], fork: Tree) -> str:
    """Return why edits break the job's promise, or the empty text."""
    for path, edit in edits.items():
        was = fork.entry(path)
        if edit is None or fault_of_entry(was) or (was is not None and was.mode != edit.mode):
            return f"does more to {path.text} than edit it"
        fault = fault_of_form(b"" if was is None else fork.read(path), edit.content)
        if fault:
            return f"{path.text} {fault}"
    return ""
