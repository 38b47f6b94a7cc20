"""The audit of the tasks job: every module that a landing touched compiles, looked at again."""

from __future__ import annotations

from fleet.jobs.tasks.definitions import fault_of
from fleet.unshared import Unshared
from qodebase.paths import RepoPath
from qodebase.ports import Landing, Tree


def fault_of_module(path: RepoPath, content: bytes, *, full: bool = False) -> str:
    """Return why a file is no module that compiles, or the empty text; files of other languages are not looked at."""
    if not path.endswith(b".py"):
        return ""
    try:
        source = content.decode()
        if full:
            compile(source, path.text, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"{path.text} does not compile: {error}"
    fault = fault_of(source)
    return f"{path.text} does not compile: {fault}" if fault else ""


class TasksAudit(Unshared):
    """See `qodebase.ports.JobAudit`; there is no shared path."""

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        """Compile what a landing made of its scope, ``full`` in one piece."""
        for path in landing.scope:
            if after.entry(path) is not None and (fault := fault_of_module(path, after.read(path), full=full)):
                return fault
        return ""
