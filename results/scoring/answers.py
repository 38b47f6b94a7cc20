"""The answers of a run: every change that a model made, fresh or redone, with the state that it was shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from qodebase.change import Change
from qodebase.codec import NotDecoded, pack_decoder
from qodebase.edits import BadChange
from qodebase.events import ChangeMade, Event, Replayed, Unverified
from qodebase.paths import RepoPath
from qodebase.segments import BadSegment, SegmentReader
from qodebase.trunk.objects import MissingObject
from results.scoring.states import State, States
from results.scoring.suite import Suite, Test, TestKind
from results.scoring.verdicts import Verdicts

_CHANGE = pack_decoder(Change)


class Which(NamedTuple):
    """An answer's name: the words of a commit's trailers; ``replay`` 0 is the fresh one."""

    intent: str
    attempt: int
    replay: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A change as a model made it.

    Attributes:
        which: whose.
        change: what it edits; its base is the state that the model was shown.
        shown: that state.
        own: its own tree: the state shown with this change and nothing else. For a redone one that is the newest main
            as the model saw it, with the redone change.
    """

    which: Which
    change: Change
    shown: State
    own: State

    @property
    def redone(self) -> bool:
        """Return whether a model redid it on a newer main."""
        return self.which.replay > 0

    @property
    def edited(self) -> set[RepoPath]:
        """Return the modules that it changes."""
        return self.own.differs(self.shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An answer as its own tree shows it.

    *Wrong*: an answer that fails any check or hidden test of its intent, or a neighbour check green on the state shown,
    judged on its own tree. Room is left by neighbours that the intent itself retires: it is asked to break them, so
    they are not counted. A call that gave no change has no tree and is not judged.

    Attributes:
        answer: which.
        checks, hidden: the intent's own tests that are red.
        neighbours: neighbours that it broke.
    """

    answer: Answer
    checks: tuple[Test, ...]
    hidden: tuple[Test, ...]
    neighbours: tuple[Test, ...]

    @property
    def wrong(self) -> str:
        """Return what it fails, ``check``, ``hidden`` or ``neighbour``, the first that applies; empty: it is right."""
        if self.checks:
            return "check"
        return "hidden" if self.hidden else "neighbour" if self.neighbours else ""

    @property
    def own_green(self) -> bool:
        """Return whether all is green on its own tree that a gate may look at, so without the hidden tests."""
        return not self.checks and not self.neighbours


class Answers:
    """Read answers from a run's events; ``unread`` says of which none could be made, and why."""

    def __init__(self, events: Iterable[Event], segments: SegmentReader, states: States) -> None:
        self._segments = segments
        self._states = states
        self.unread: dict[Which, str] = {}
        self.all: dict[Which, Answer] = {}
        for event in events:
            if isinstance(event, ChangeMade | Replayed | Unverified):
                self._read(event)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.all.values())

    def _read(self, event: ChangeMade | Replayed | Unverified) -> None:
        replay = 0 if isinstance(event, ChangeMade) else event.replay
        which = Which(event.intent or "", event.attempt or 1, replay)
        try:
            change = _CHANGE.decode(self._segments.get(event.ref))
            self.all[which] = Answer(
                which=which, change=change, shown=self._states.of(change.base), own=self._states.own(change)
            )
        except (BadSegment, NotDecoded, BadChange, MissingObject, KeyError) as error:
            self.unread[which] = f"{type(error).__name__}: {error}"


def judge_all(answers: Iterable[Answer], suite: Suite, verdicts: Verdicts) -> dict[Which, Judged]:
    """Judge answers, each on its own tree.

    Of the neighbours only those are run that reach what the answer changed, on its own tree or on the state shown; no
    other one can differ between the two.
    """
    listed = list(answers)
    near = {answer.which: _near(answer, suite) for answer in listed}
    verdicts.learn((answer.own, [*suite.of.get(answer.which.intent, ()), *near[answer.which]]) for answer in listed)
    red = {
        answer.which: [test for test in near[answer.which] if not verdicts.green(answer.own, test)] for answer in listed
    }
    verdicts.learn((answer.shown, red[answer.which]) for answer in listed)
    return {answer.which: _judged(answer, red[answer.which], suite, verdicts) for answer in listed}


def _near(answer: Answer, suite: Suite) -> list[Test]:
    edited = answer.edited
    retired = frozenset(suite.retires.get(answer.which.intent, ()))
    found: list[Test] = []
    for file, tests in suite.neighbour_files.items():
        reaches = (answer.shown.sight(file).reach, answer.own.sight(file).reach)
        if edited and any(reach is None or not reach.isdisjoint(edited) for reach in reaches):
            found += (test for test in tests if test.name not in retired)
    return found


def _judged(answer: Answer, red: list[Test], suite: Suite, verdicts: Verdicts) -> Judged:
    own = [test for test in suite.of.get(answer.which.intent, ()) if not verdicts.green(answer.own, test)]
    return Judged(
        answer=answer,
        checks=tuple(test for test in own if test.kind is TestKind.CHECK),
        hidden=tuple(test for test in own if test.kind is TestKind.HIDDEN),
        neighbours=tuple(test for test in red if verdicts.green(answer.shown, test)),
    )
