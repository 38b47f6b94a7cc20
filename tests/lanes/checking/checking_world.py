"""A repository with a main of a few files, trees made of edits on it, and one real checker for a module's tests."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from lanes.checking.checker import SandboxedChecker
from lanes.checking.sandbox import Sandbox
from lanes.checking.trees import Code, Trees
from lanes.step import to_trunk
from qodebase.change import REGULAR
from qodebase.check import Check, Limits
from qodebase.check_selection import Selection
from qodebase.clock import SystemClock
from qodebase.edits import Edit
from qodebase.paths import RepoPath
from qodebase.ports import Judgement
from qodebase.trunk.landing import Trunk
from qodebase.trunk.reader import Reader

DEADLINE_S = 120
QUICK = Limits(wall_s=30.0)
ENVIRONMENT = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

Files = Mapping[bytes, bytes | Edit | None]


class CheckingWorld:
    """Main, and whoever judges what is made of it."""

    def __init__(
        self,
        root: Path,
        files: Mapping[bytes, bytes],
        *,
        sandbox: Sandbox | None = None,
        selection: Selection = "names",
    ) -> None:
        self.repository = root
        self._selection = selection
        self.sandbox = sandbox or Sandbox()
        self.checks: dict[str, Check] = {"any": Check(tests=("any",))}
        self._held = ExitStack()
        root.mkdir(mode=0o700)
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", "--template=", root], env=ENVIRONMENT, check=True)
        stream = [b"commit refs/heads/main\ncommitter P <p@example.org> 1700000000 +0000\ndata 4\nbase\n"]
        stream += [b"M 100644 inline %s\ndata %d\n%s\n" % (name, len(text), text) for name, text in files.items()]
        subprocess.run(
            ["git", "-C", root, "fast-import", "--quiet"], env=ENVIRONMENT, input=b"".join(stream), check=True
        )

    def __enter__(self) -> CheckingWorld:
        self.reader = self._held.enter_context(Reader(self.repository))
        self.trunk = self._held.enter_context(Trunk.open(self.repository, branch="main", run="r"))
        self.trees = Trees(self.reader)
        self.runner = self._held.enter_context(asyncio.Runner())
        self.checker = SandboxedChecker(self.checks, self.trees, SystemClock(), self.sandbox, selection=self._selection)
        self._held.callback(lambda: self.runner.run(self.checker.close()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def tree(self, files: Files) -> str:
        """Return the tree that main has with other contents at some paths (None: deleted)."""
        edits = {
            RepoPath(path): Edit(REGULAR, text) if isinstance(text, bytes) else text for path, text in files.items()
        }
        tree = self.trunk.tree_with({path: to_trunk(edit) for path, edit in edits.items()})
        self.trees.tell(tree, self.trunk.tip_tree, edits)
        return tree

    def code(self, files: Files) -> Code:
        """Return such a tree with its contents."""
        return self.trees.code(self.tree(files))

    def judge(self, checks: Mapping[str, Check], *asked: tuple[str, tuple[str, ...]]) -> list[Judgement]:
        """Judge trees with checks, one after the other."""

        self.checks.update(checks)

        async def work() -> list[Judgement]:
            async with asyncio.timeout(DEADLINE_S):
                return [await self.checker.check(tree, names) for tree, names in asked]

        return self.runner.run(work())

    def judge_one(self, check: Check, files: Files) -> Judgement:
        """Judge one tree with one check."""
        (found,) = self.judge({"c": check}, (self.tree(files), ("c",)))
        return found
