"""The audit of the document job: every header proved again, every index line recomputed from its file."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping

from fleet.jobs.document.code_map import outline_of
from fleet.jobs.document.index import index_lines, lines_of, with_lines
from fleet.jobs.document.proof import Broken, prove
from fleet.jobs.document.shards import IndexPaths
from qodebase.collision import Declined
from qodebase.paths import RepoPath
from qodebase.ports import Landing, Tree
from replay_rules.sorted_index import first_entry, key_of

_REPARSED_OF = 20
_NAMED = 20


class DocumentAudit:
    """See `qodebase.ports.JobAudit`; the bytes of every file are proved, one in twenty is parsed, all with ``full``."""

    def __init__(self, paths: IndexPaths, *, names: int) -> None:
        self._paths = paths
        self._names = names
        self._account: dict[str, int] = {}

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        """Prove the header of a landing: its commit against its parent."""
        path = landing.scope[0]
        sampled = hashlib.sha256(landing.intent.id.encode()).digest()[0] % _REPARSED_OF == 0
        proof = prove(path, before.read(path), after.read(path), full=full or sampled)
        return f"{path.text}: {proof.reason}" if isinstance(proof, Broken) else ""

    def shared_edit(self, landing: Landing, path: RepoPath, before: Tree, after: Tree) -> str:
        """Compare a commit's index with its parent's plus the lines that the landed file calls for."""
        source = landing.scope[0]
        outline = outline_of(source, after.read(source))
        index = before.read(path) if before.entry(path) else None
        called_for = index_lines(source, outline, most=self._names) if outline else []
        if path != self._paths.of(source):
            return f"{path.text}: the lines of {source.text} go into {self._paths.of(source).text}"
        whole = before.read(self._paths.index) if before.entry(self._paths.index) else b""
        lines = [line for line in called_for if line not in (index or b"") and line not in whole]
        asked = lines_of(landing.change.operations, path)
        if sorted(asked) != sorted(lines):
            return (
                f"{path.text}: the change asked for {len(asked)} lines, the landed file calls for {len(lines)} others"
            )
        expected = with_lines(index, lines) if lines else index
        if isinstance(expected, Declined):
            return f"{path.text}: {expected.why}"
        if (after.read(path) if after.entry(path) else None) != expected:
            return f"{path.text}: the commit does more or less than adding its intent's {len(lines)} lines"
        return ""

    def shared_whole(
        self, path: RepoPath, base: bytes | None, final: bytes | None, landed: Iterable[Landing]
    ) -> list[str]:
        """Compare the index with the base's lines plus those of every landed change, none missing, none twice.

        What was composed of shards holds the lines of all of them.
        """
        expected = Counter(_entries(base or b""))
        parts = self._paths.shards if path == self._paths.index and self._paths.shards else (path,)
        for landing in landed:
            for part in parts:
                expected.update(lines_of(landing.change.operations, part))
        there = Counter(_entries(final or b""))
        self._account = {"lines expected": expected.total(), "lines there": there.total()}
        wrong = [f"missing: {_text(line)}" for line in (expected - there)]
        wrong += [
            f"{'twice' if expected[line] else 'of no landed change'}: {_text(line)}" for line in (there - expected)
        ]
        keys = [key_of(line) for line in _entries(final or b"")]
        if any(left is None or right is None or left >= right for left, right in itertools.pairwise(keys)):
            wrong.append("the lines are not sorted by path and name")
        return wrong[:_NAMED] + ([f"and {len(wrong) - _NAMED} more"] if len(wrong) > _NAMED else [])

    def account(self, path: RepoPath) -> Mapping[str, int]:
        """Return how many lines were expected and found."""
        return self._account


def _entries(index: bytes) -> list[bytes]:
    return index[first_entry(index) :].splitlines(keepends=True)


def _text(line: bytes) -> str:
    return line.decode(errors="replace").strip()
