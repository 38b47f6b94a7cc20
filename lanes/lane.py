"""A lane: the merge queue of one area of the code."""

from __future__ import annotations

import asyncio
import heapq

from lanes.rounds import AllLanes, Rounds
from lanes.submission import Submission


class Lane:
    """Couple what waits into trains, have them judged, land them; each round lands or ejects something.

    A change over several lanes waits in each of them. Its first lane lands it, alone, once it is at the head of all;
    lanes look again at their heads whenever a queue changes, so a change of a higher priority cannot lock them. While
    one of its lanes is paused, or drains without it, it stands aside in the others, which go on.

    A change of priority 0 rides only with its like, and interrupts: a train of others that the gate judges is given up,
    and its members queue again at their old rank.
    """

    def __init__(self, name: str, yard: AllLanes) -> None:
        self.name = name
        self._yard = yard
        self._queue: list[tuple[tuple[int, int, int], Submission]] = []
        self._aside: list[Submission] = []
        self._rounds = Rounds(name, yard, self)
        self._changed = asyncio.Event()
        self._held: asyncio.Event | None = None
        self._lander = self
        self._paused = False
        self._later: list[Submission] = []
        self._last: int | None = None
        self.parked_at: Submission | None = None

    def __len__(self) -> int:
        return len(self._queue) + len(self._aside) + len(self._later)

    def add(self, submission: Submission) -> None:
        """Queue a submission by priority, then by arrival."""
        if self._comes_later(submission):
            self._later.append(submission)
            return
        heapq.heappush(self._queue, (submission.rank, submission))
        self._interrupt()
        self._rounds.look_ahead()
        self.look()

    def look(self) -> None:
        """Make a waiting lane look at its head again."""
        self._changed.set()

    def pause(self) -> None:
        """Begin no further train; one that was begun is brought to its end."""
        self._paused = True
        self.parked_at = None

    def drain(self, last: int) -> None:
        """Bring to its end what was handed in by now, up to the ``last``; what comes from now on waits apart."""
        self._paused = False
        self._last = last if self._last is None else self._last
        self.look()

    def go_on(self) -> None:
        """Take rounds again, and what came while the lane was draining."""
        self._paused = False
        self._last = None
        later, self._later = self._later, []
        for submission in later:
            self.add(submission)
        self._interrupt()
        self.look()

    def stops(self, submission: Submission) -> bool:
        """Return whether a change does not go on here until a person says so."""
        return self._paused or self._comes_later(submission)

    def take_in(self) -> None:
        """Queue again what stood aside."""
        aside, self._aside = self._aside, []
        for submission in aside:
            self.add(submission)

    def sort(self) -> None:
        """Take in that the rank of a change has changed, which may wait here."""
        self._queue = [(submission.rank, submission) for _, submission in self._queue]
        heapq.heapify(self._queue)
        self._interrupt()
        self.look()

    def waits_at(self, submission: Submission) -> bool:
        """Return whether the lane holds still at a change that is still its head."""
        return self.parked_at is submission and self._head() is submission

    def _comes_later(self, submission: Submission) -> bool:
        return self._last is not None and submission.order > self._last

    def _head(self) -> Submission | None:
        """Return the first of the queue that may go; a change that another lane stops stands aside."""
        while self._queue and not self._paused:
            head = self._queue[0][1]
            if len(head.lanes) == 1 or not self._yard.stopped(head):
                break
            self._aside.append(heapq.heappop(self._queue)[1])
        return self._queue[0][1] if self._queue else None

    async def serve(self) -> None:
        """Take rounds until cancelled."""
        while True:
            if self._held is not None:
                await self._held.wait()
                self._held = None
            head = self._head()
            if self.parked_at is not head:
                self.parked_at = None
            if self._rounds.begun:
                await self._rounds.take()
            elif head is None or self._paused:
                await self._wait()
            elif len(head.lanes) > 1:
                await self._meet(head)
            else:
                await self._rounds.take()

    def hold(self, landed: asyncio.Event, lander: Lane) -> None:
        """Give up the head, which another lane lands now; take no round before that is done."""
        heapq.heappop(self._queue)
        self.parked_at = None
        self._held, self._lander = landed, lander
        self.look()

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    @property
    def interrupted(self) -> bool:
        """Return whether a change that interrupts waits, and may go."""
        head = None if self._paused else self._head()
        return head is not None and head.interrupts

    def _interrupt(self) -> None:
        if self.interrupted:
            held = self._held is not None and not self._held.is_set()
            (self._lander if held else self)._rounds.interrupt()

    def take(self, most: int, like: Submission | None = None) -> list[Submission]:
        """Take members of the next train: the queue's front, up to the first that needs other lanes too.

        A lane that is paused gives none.

        Args:
            like: a member that the train has already; one that interrupts rides only with its like.
        """
        taken: list[Submission] = []
        while not self._paused and len(taken) < most:
            head = self._head()
            like = like or head
            if head is None or like is None or len(head.lanes) > 1 or head.interrupts != like.interrupts:
                break
            taken.append(heapq.heappop(self._queue)[1])
        return taken

    async def _meet(self, head: Submission) -> None:
        """Wait until all lanes of a change are at it; its first lane then lands it while the others hold."""
        if self.parked_at is None:
            self.parked_at = head
            self._yard.look_all(head.lanes)
        if head.lanes[0] != self.name or not self._yard.all_parked(head):
            await self._wait()
            return
        landed = asyncio.Event()
        self._yard.hold_all(head, landed)
        try:
            await self._rounds.take_alone(head)
        finally:
            landed.set()
