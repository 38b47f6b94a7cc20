"""The recorded answers of a run as a model, and the order in which they are given again."""

from __future__ import annotations

import asyncio
import heapq
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from qodebase.collision import Kind
from qodebase.events import Admitted, Answered, Asked, CollisionMet, Ended, Event, Judged, Landed, SentBack
from qodebase.ports import Answer, Failure, NoAnswer, Prompt

if TYPE_CHECKING:
    from qodebase.segments import SegmentReader

_PATIENCE_S = 30.0
_MOST_SKIPPED = 3
_KEPT = (Failure.REFUSED, Failure.SECRET, Failure.NEVER_SENT)
"""Failures that decide how an intent ends; all others end it without an answer."""


class Purpose(NamedTuple):
    """What was asked for: fresh work or a replay of an attempt at an intent."""

    intent: str
    attempt: int
    purpose: str


class Moment(NamedTuple):
    """Something of an intent that comes before or after something of another: an attempt begins, or 0, its ending."""

    intent: str
    attempt: int = 0


@dataclass(slots=True, kw_only=True)
class Question:
    """A question of the recorded run, its last outcome, and the moment that came of it; None: nothing did."""

    prompt: str
    outcome: Answered | None = None
    next: Moment | None = None


@dataclass(slots=True, kw_only=True)
class Recording:
    """What a journal says of the questions of a run, and of the order of what came of them.

    Attributes:
        questions: those of each purpose, in the order in which they were asked.
        order: the moments, each at its last place.
        admitted: the intents in the order of their last first admission, each with the intent that landed last before.
        ordered: more than shared paths collided, or checks ran, so that another order may make another main.
        replayed: a model was asked to redo changes.
    """

    questions: dict[Purpose, list[Question]] = field(default_factory=lambda: defaultdict(list))
    order: list[Moment] = field(default_factory=list)
    admitted: dict[str, str] = field(default_factory=dict)
    ordered: bool = False
    replayed: bool = False


def recording_of(events: Iterable[Event]) -> Recording:
    """Read a journal."""
    found = Recording()
    calls: dict[int, Question] = {}
    waiting: defaultdict[str, list[Question]] = defaultdict(list)
    at: dict[Moment, int] = {}
    newest = ""

    def pass_by(moment: Moment, place: int) -> None:
        at[moment] = place
        for question in waiting.pop(moment.intent, ()):
            question.next = moment

    for place, event in enumerate(events):
        intent = event.intent or ""
        match event:
            case Admitted():
                if (event.attempt or 1) == 1:
                    found.admitted.pop(intent, None)
                    found.admitted[intent] = newest
                pass_by(Moment(intent, event.attempt or 1), place)
            case Asked():
                purpose = Purpose(intent, event.attempt or 1, event.purpose)
                asked = found.questions[purpose]
                if not asked or asked[-1].prompt != event.prompt:
                    asked.append(Question(prompt=event.prompt))
                if event.purpose == "replay":
                    found.ordered = found.replayed = True
                calls[event.call] = asked[-1]
            case Answered() if event.call in calls:
                question = calls[event.call]
                question.outcome = event
                if question not in waiting[intent]:
                    waiting[intent].append(question)
            case Landed():
                newest = intent
                pass_by(Moment(intent), place)
            case Ended():
                pass_by(Moment(intent), place)
            case SentBack():
                found.ordered = True
            case Judged() if event.checks:
                found.ordered = True
            case CollisionMet() if event.collided.kind is not Kind.SHARED:
                found.ordered = True
            case _:
                pass
    found.order = sorted(at, key=at.__getitem__)
    return found


class Order:
    """Lets recorded answers out so that what came of them comes in the recorded order.

    An answer waits until all that came before its own consequence has happened here too, so that each change meets the
    main that it landed on; what was redone on the way to it, and thrown away, is not. Where nothing happens for half a
    minute of wall time, what was waited for is passed over; after three of those, order is given up.
    """

    def __init__(self, recording: Recording) -> None:
        self._moments = recording.order if recording.ordered else []
        self._place = {moment: place for place, moment in enumerate(self._moments)}
        self._of: defaultdict[str, list[Moment]] = defaultdict(list)
        for moment in self._moments:
            self._of[moment.intent].append(moment)
        self._done: set[Moment] = set()
        self._at = 0
        self._heard = 0
        self._tickets = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self.skipped = 0

    @property
    def kept(self) -> bool:
        """Return whether nothing was passed over."""
        return not self.skipped

    def hear(self, event: Event) -> None:
        """Hear what happens."""
        self._heard += 1
        intent = event.intent or ""
        match event:
            case Admitted():
                self._pass(Moment(intent, event.attempt or 1))
            case Landed() | Ended():
                # An attempt that is not needed here is over with its intent.
                self._done.update(self._of[intent])
                self._go_on()
            case _:
                pass

    async def turn(self, moment: Moment | None) -> None:
        """Return when an answer that leads to a moment may be given."""
        place = -1 if moment is None else self._place.get(moment, -1)
        while place > self._at:
            self._tickets += 1
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (place, self._tickets, future))
            heard = self._heard
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await future
            except TimeoutError:
                if self._heard == heard:
                    self._skip()

    def _pass(self, moment: Moment) -> None:
        self._done.add(moment)
        self._go_on()

    def _skip(self) -> None:
        self.skipped += 1
        left = self._moments[self._at :]
        self._done.update(left if self.skipped > _MOST_SKIPPED else left[:1])
        self._heard += 1
        self._go_on()

    def _go_on(self) -> None:
        while self._at < len(self._moments) and self._moments[self._at] in self._done:
            self._at += 1
        while self._waiting and self._waiting[0][0] <= self._at:
            _, _, future = heapq.heappop(self._waiting)
            if not future.done():
                future.set_result(None)


class RecordedModel:
    """Gives the answers of a recorded run; nobody else is asked.

    It must hear the journal (`hear`), which says whose question a prompt is before it is asked.

    Attributes:
        otherwise: intents whose prompt was another here, and that got the recorded answer all the same.
        unanswered: intents that were asked more than the recorded run asked.
    """

    name = "recorded"
    deterministic = True
    simulated = False
    local = True

    def __init__(self, recording: Recording, kept: SegmentReader) -> None:
        self.redoes = recording.replayed
        self.order = Order(recording)
        self.otherwise: dict[str, None] = {}
        self.unanswered: dict[str, None] = {}
        self._questions = recording.questions
        self._kept = kept
        self._whose: defaultdict[str, deque[Purpose]] = defaultdict(deque)

    def hear(self, event: Event) -> None:
        """Hear what happens."""
        if isinstance(event, Asked):
            self._whose[event.prompt].append(Purpose(event.intent or "", event.attempt or 1, event.purpose))
        self.order.hear(event)

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Give the recorded answer, once it is its turn."""
        purpose = self._whose[prompt.digest].popleft()
        question = self._question(purpose, prompt.digest)
        if question is None or question.outcome is None:
            self.unanswered[purpose.intent] = None
            why = "the recorded run did not ask this, or was stopped before the answer came"
            return NoAnswer(failure=Failure.EMPTY, why=why, model=self.name)
        if question.prompt != prompt.digest:
            self.otherwise[purpose.intent] = None
        await self.order.turn(question.next)
        return self._outcome(question.outcome)

    async def close(self) -> None:
        """Close the recorded attempts."""
        self._kept.close()

    def _question(self, purpose: Purpose, prompt: str) -> Question | None:
        """Return the question with this prompt, or the last one: what landed came of it."""
        asked = self._questions.get(purpose, [])
        same = (question for question in asked if question.prompt == prompt)
        return next(same, asked[-1] if asked else None)

    def _outcome(self, told: Answered) -> Answer | NoAnswer:
        used = {
            "model": told.model,
            "input_tokens": told.input_tokens,
            "cached_tokens": told.cached_tokens,
            "output_tokens": told.output_tokens,
        }
        if told.outcome == "answer":
            text = self._kept.get(told.ref).decode()
            return Answer(text=text, cost_usd=0.0, source="recorded", **used)  # type: ignore[arg-type]
        failure = next((one for one in _KEPT if one == told.outcome), Failure.EMPTY)
        why = told.why if failure == told.outcome else f"{told.outcome}: {told.why}"
        return NoAnswer(failure=failure, why=why, **used)  # type: ignore[arg-type]
