"""What checks mention that did nothing but to call functions; see `lanes.reach`."""

from __future__ import annotations

from lanes.checking.results import Result
from lanes.checking.sharing import Wanted
from lanes.checking.trees import Code
from lanes.reach.mentions import Mentioned, mentioned
from qodebase.change import EXECUTABLE, REGULAR
from qodebase.paths import RepoPath

_COMPILED = (b".pyc", b".pyd", b".so")


def mentions_of(wanted: Wanted, result: Result, code: Code) -> Mentioned | None:
    """Return what a green check mentions in a tree; None where that cannot be told."""
    tests = _functions(wanted)
    if result.why or result.read is None or not result.called or tests is None:
        return None
    modules: dict[RepoPath, bytes] = {}
    for path in result.read:
        if path.endswith(_COMPILED):
            return None
        if not path.endswith(b".py"):
            continue
        if path in wanted.over:
            laid = wanted.over[path]
            mode, content = (REGULAR, None) if laid is None else laid
        else:
            node = code.tree.node(path)
            mode = REGULAR if node is None else node.mode
            content = None if node is None or mode not in (REGULAR, EXECUTABLE) else code.content(node.id)
        if mode not in (REGULAR, EXECUTABLE):
            return None
        if content is not None:
            modules[path] = content
    return mentioned(tests, modules)


def _functions(wanted: Wanted) -> set[str] | None:
    """Return the functions that a check selects; None where it selects whole files, which others could come to."""
    functions = set()
    for one in wanted.definition.check.tests:
        _, _, function = one.partition("::")
        if not function.isidentifier():
            return None
        functions.add(function)
    return functions
