"""An agent's own look at its change: checks that run in the sandbox on its fork with the change on it."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.sent_back_text import bounded
from lanes.contract import Contract
from lanes.desk import Tell
from lanes.prefetch import GuessedFork
from lanes.read_sets import touched
from lanes.verdicts import Verdicts
from qodebase.change import Change
from qodebase.edits import Edit, materialise
from qodebase.intent import Intent
from qodebase.paths import RepoPath
from qodebase.ports import Checker, HasChecks, Job, Tree, Verdict, Verifies
from qodebase.trunk.folder import Node
from qodebase.trunk.reader import Reader


def check_name(intent: str) -> str:
    """Return the name of an intent's own check, which is none of the job's."""
    return f"verify {intent}"


class Verifier:
    """Run each intent's own check, and with it what of the contract looks at what the change touches.

    Most jobs have no own checks; their agents do not look. A check of the contract is run if it was in force at the
    fork and is known to read what the change touches; it counts where it is green on the fork and red twice on the
    change. The gate judges by all of them again.

    Args:
        checker: knows own checks by `check_name`; None: there are none.
        contract: the checks in force.
        tell: hears of each tree before it is judged.
        reader: of the run's repository.
        verdicts: hears what came out green, so that the gate need not run it again where nothing else counts.
    """

    def __init__(
        self,
        job: Job,
        checker: Checker | None,
        contract: Contract,
        tell: Tell,
        reader: Reader,
        verdicts: Verdicts | None = None,
    ) -> None:
        self._own = job.verifying() if isinstance(job, Verifies) else {}
        self._checks = job.checks() if isinstance(job, HasChecks) else {}
        self._verdicts = verdicts
        self._checker = checker
        self._contract = contract
        self._tell = tell
        self._reader = reader

    async def fault(self, intent: Intent, change: Change, fork: Tree) -> str:
        """Return what is wrong with a change on its own fork, or the empty text."""
        checker = self._checker
        if checker is None or intent.id not in self._own:
            return ""
        own = check_name(intent.id)
        laid = dict(fork.laid) if isinstance(fork, GuessedFork) else {}
        edits = materialise(change, fork)
        neighbours = self._neighbours(intent, edits, fork)
        tree = self._tree_with(fork, laid | edits)
        judgement = await checker.check(tree, (own, *neighbours))
        if self._verdicts is not None:
            same = [name for name in intent.checks if self._checks.get(name) == self._own[intent.id]]
            self._verdicts.take(judgement, {own: same})
        if judgement.verdict is Verdict.GREEN:
            return ""
        red = [name for name in judgement.failed if name in neighbours]
        if set(judgement.failed) - set(red) or not red:
            return bounded(judgement.output)
        again = await checker.check(tree, red)
        before = await checker.check(self._tree_with(fork, laid), red)
        broken = [name for name in again.failed if name not in before.failed]
        return bounded(f"{self._contract.breaks(broken)}\n{again.output}") if broken else ""

    def _neighbours(self, intent: Intent, edits: Mapping[RepoPath, Edit | None], fork: Tree) -> tuple[str, ...]:
        touches = touched(edits, fork, named=True)
        return tuple(sorted(self._contract.known_at(fork.commit, touches).difference(intent.retires)))

    def _tree_with(self, fork: Tree, edits: Mapping[RepoPath, Edit | None]) -> str:
        base = self._reader.tree(self._reader.commit(fork.commit).tree)
        nodes: dict[bytes, Node | None] = {
            path: None if edit is None else Node(edit.mode, bytes.fromhex(edit.entry.id))
            for path, edit in edits.items()
        }
        tree = base.edited(nodes)[0].id.hex()
        self._tell(tree, base.id.hex(), edits)
        return tree
