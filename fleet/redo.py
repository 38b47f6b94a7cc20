"""The model's step of the replay ladder: the intent asked again on the newest main."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fleet.attempts import Attempts, Kept
from fleet.calls import Calls
from fleet.making import make_change
from fleet.replay_text import with_replay
from fleet.verifying import Verifier
from qodebase import events
from qodebase.change import Change
from qodebase.collision import Declined
from qodebase.events import Event
from qodebase.journal import Journal
from qodebase.paths import CommitId
from qodebase.ports import Job, Postponed, Redone, ReplayRequest, ThrownAway, Tree, Unusable


class ModelRedo:
    """Redo intents with a model, and journal each new change.

    Args:
        verifier: looks at each new change before it goes on.
        open_tree: gives the code at a commit, for the base of an original change.
        asked: gives what an intent asks, by its id.
    """

    def __init__(
        self,
        job: Job,
        calls: Calls,
        journal: Journal,
        attempts: Attempts,
        *,
        verifier: Verifier,
        open_tree: Callable[[CommitId], Tree],
        asked: Callable[[str], str],
    ) -> None:
        self._job = job
        self._verifier = verifier
        self._open_tree = open_tree
        self._asked = asked
        self._calls = calls
        self._journal = journal
        self._attempts = attempts

    async def redo(self, request: ReplayRequest, fork: Tree) -> Redone | Declined | Postponed:
        """Ask the model with the newest text, the original change and what landed in between."""
        redone = await self.redo_ahead(request, fork, _as_it_is)
        assert not isinstance(redone, ThrownAway)
        return redone

    async def redo_ahead(
        self, request: ReplayRequest, fork: Tree, settled: Callable[[Change], Awaitable[Change | None]]
    ) -> Redone | Declined | Postponed | ThrownAway:
        """Ask on a state that main is expected to come to; the change is kept once it has."""
        intent = request.intent
        agent = f"replay {request.replay}"
        prompt = with_replay(
            self._job.prompt(intent, fork, request),
            request,
            self._open_tree(request.change.base),
            fork,
            {landed: self._asked(landed) for landed in request.since},
        )
        called = await self._calls.ask(
            intent.id,
            request.attempt,
            agent,
            prompt,
            purpose="replay",
            failed=bool(request.failed),
            fork=fork,
            paths=(*intent.scope, *request.change.paths),
        )
        if why := called.postponed or called.away:
            return Postponed(why=why)
        made = make_change(self._job, intent, called.outcome, fork, [shared.path for shared in self._job.shared])
        if isinstance(made, Unusable):
            return Declined(why=made.why)
        if fault := await self._verifier.fault(intent, made.change, fork):
            self._keep(events.Unverified, request, made.change)
            return Declined(why=fault)
        change = await settled(made.change)
        if change is None:
            return ThrownAway(usage=called.usage)
        kept = self._keep(events.Replayed, request, change)
        plan = {**called.plan, "change": kept.digest}
        return Redone(
            change=change,
            model=called.outcome.model,
            usage=called.usage,
            plan=plan,
            deterministic=called.deterministic,
            simulated=called.simulated,
        )

    def _keep(self, kind: type[Event], request: ReplayRequest, change: Change) -> Kept:
        """Keep a redone change, and journal what became of it."""
        kept = self._attempts.keep(change)
        self._journal.write(
            kind,
            actor=f"replay {request.replay}",
            intent=request.intent.id,
            attempt=request.attempt,
            base=change.base,
            replay=request.replay,
            change=kept.digest,
            ref=kept.ref,
            paths=change.paths,
        )
        return kept


async def _as_it_is(change: Change) -> Change | None:
    return change
