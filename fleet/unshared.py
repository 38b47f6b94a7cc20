"""What an audit says of shared paths where a job has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qodebase.paths import RepoPath
from qodebase.ports import Landing, Tree


class Unshared:
    """The shared half of a `qodebase.ports.JobAudit`: no path is shared, so nothing can be wrong with one."""

    def shared_edit(self, landing: Landing, path: RepoPath, before: Tree, after: Tree) -> str:
        """Find nothing."""
        return ""

    def shared_whole(
        self, path: RepoPath, base: bytes | None, final: bytes | None, landed: Iterable[Landing]
    ) -> list[str]:
        """Find nothing."""
        return []

    def account(self, path: RepoPath) -> Mapping[str, int]:
        """Count nothing."""
        return {}
