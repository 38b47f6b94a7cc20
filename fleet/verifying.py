"""An agent's own look at its change: the job's check, run in the sandbox on the agent's fork with the change on it."""

from __future__ import annotations

from fleet.sent_back_text import bounded
from lanes.desk import Tell
from lanes.prefetch import GuessedFork
from qodebase.change import Change
from qodebase.edits import materialise
from qodebase.intent import Intent
from qodebase.ports import Checker, Job, Tree, Verdict, Verifies
from qodebase.trunk.folder import Node
from qodebase.trunk.reader import Reader


def check_name(intent: str) -> str:
    """Return the name of an intent's own check, which is none of the job's."""
    return f"verify {intent}"


class Verifier:
    """Run each intent's own check; most jobs have none.

    Args:
        checker: knows these checks by `check_name`; None: there are none.
        tell: hears of each tree before it is judged.
        reader: of the run's repository.
    """

    def __init__(self, job: Job, checker: Checker | None, tell: Tell, reader: Reader) -> None:
        self._intents = frozenset(job.verifying()) if isinstance(job, Verifies) else frozenset()
        self._checker = checker
        self._tell = tell
        self._reader = reader

    async def fault(self, intent: Intent, change: Change, fork: Tree) -> str:
        """Return what is wrong with a change on its own fork, or the empty text."""
        if self._checker is None or intent.id not in self._intents:
            return ""
        judgement = await self._checker.check(self._tree(change, fork), (check_name(intent.id),))
        return "" if judgement.verdict is Verdict.GREEN else bounded(judgement.output)

    def _tree(self, change: Change, fork: Tree) -> str:
        edits = materialise(change, fork)
        if isinstance(fork, GuessedFork):
            edits = {**fork.laid, **edits}
        base = self._reader.tree(self._reader.commit(fork.commit).tree)
        nodes: dict[bytes, Node | None] = {
            path: None if edit is None else Node(edit.mode, bytes.fromhex(edit.entry.id))
            for path, edit in edits.items()
        }
        tree = base.edited(nodes)[0].id.hex()
        self._tell(tree, base.id.hex(), edits)
        return tree
