"""What an agent does after its change was sent back, in a real run under the virtual clock."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qodebase.clock import VirtualClock
from qodebase.commands.support.sitting import sit
from qodebase.commands.support.starting import Order, freeze, prepared
from qodebase.commands.support.surroundings import Surroundings
from qodebase.events import Admitted, Event, SentBack
from qodebase.ports import Answer, Failure, NoAnswer, Prompt
from qodebase.runs import RunFolder

JOB = Path(__file__).parents[1] / "support" / "edit_job.py"
EDITS = ("a.txt=first", "a.txt=second")


class Stubborn:
    """Answers fresh questions after their own number of virtual seconds, and redoes nothing."""

    name = "stubborn"
    deterministic = True
    simulated = True
    local = True

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.prompts: list[str] = []

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        text = prompt.messages[-1].text
        self.prompts.append(text)
        await self._clock.sleep(1.0 if prompt.facts["scripted"] == "first" else 2.0)
        if not text.endswith(" 0"):
            return NoAnswer(failure=Failure.EMPTY, why="no", model=self.name)
        return Answer(text=prompt.facts["scripted"], model=self.name)

    async def close(self) -> None:
        pass


class Stopped(Exception):
    """The process is gone."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    root = tmp_path / "code"
    root.mkdir()
    (root / "a.txt").write_text("line\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-qm", "base"]):
        subprocess.run(["git", "-C", root, *words], check=True)
    return tmp_path


def frozen(place: Path, *, tries: int) -> RunFolder:
    """Freeze two intents that write the same line."""
    order = Order(
        job="",
        job_file=str(JOB),
        settings={"edits": EDITS},
        repository=place / "code",
        out=place / "run",
        model="stubborn",
        attempts=tries,
    )
    clock = VirtualClock()
    with prepared(order, surroundings(place), clock, Stubborn(clock)) as ready:
        return freeze(ready, clock)


def surroundings(place: Path) -> Surroundings:
    return Surroundings(environ={}, cache_folder=place / "cache")


def work(place: Path, folder: RunFolder, *listeners: Callable[[Event], None]) -> list[str]:
    """Take a sitting; return the prompts that were asked."""
    clock = VirtualClock(1000.0)
    model = Stubborn(clock)
    with asyncio.Runner(loop_factory=clock.new_event_loop) as runner:
        runner.run(sit(folder, surroundings(place), clock, first=True, model=model, listeners=listeners))
    return model.prompts


def events_of(folder: RunFolder, *kinds: str) -> list[dict[str, Any]]:
    return [event for line in folder.journal.read_text().splitlines() if (event := json.loads(line))["kind"] in kinds]


def stop_at(kind: type[Event]) -> Callable[[Event], None]:
    """Return a listener that ends the process, as it were, once an event of a kind is in the journal."""

    def hear(event: Event) -> None:
        if isinstance(event, kind):
            raise Stopped

    return hear


def test_the_attempt_after_a_change_was_sent_back_is_told_why_and_made_from_the_newest_main(place: Path) -> None:
    folder = frozen(place, tries=2)
    prompts = work(place, folder)
    last = prompts[-1]
    assert last.startswith("Attempt 1 at what follows was sent back.")
    assert "collided and could not be redone: a.txt:" in last
    assert "a.txt was moved by edit-0" in last
    assert last.endswith("Put 'second' above a.txt 0")
    (sent_back,) = events_of(folder, "sent back")
    assert (sent_back["intent"], sent_back["attempt"]) == ("edit-1", 1)
    assert sent_back["reason"] in last
    assert sent_back["detail"] in last
    landed = events_of(folder, "landed")
    assert [(event["intent"], event["attempt"]) for event in landed] == [("edit-0", 1), ("edit-1", 2)]
    admitted = [event for event in events_of(folder, "admitted") if event["attempt"] == 2]
    assert [event["base"] for event in admitted] == [landed[0]["commit"]]


def test_a_change_that_is_sent_back_at_its_last_attempt_ends_with_that_reason(place: Path) -> None:
    folder = frozen(place, tries=1)
    assert not any(prompt.startswith("Attempt") for prompt in work(place, folder))
    (sent_back,), (ended,) = events_of(folder, "sent back"), events_of(folder, "ended")
    assert ended["ending"] == "sent back"
    assert ended["reason"] == sent_back["reason"]


def test_a_kill_after_a_change_was_sent_back_lets_the_next_sitting_tell_the_same_and_hand_nothing_in_again(
    place: Path,
) -> None:
    folder = frozen(place, tries=2)
    with pytest.raises(Stopped):
        work(place, folder, stop_at(SentBack))
    (told,) = work(place, folder)
    assert told.startswith("Attempt 1 at what follows was sent back.")
    assert events_of(folder, "sent back")[0]["reason"] in told
    assert [event["attempt"] for event in events_of(folder, "landed")] == [1, 2]
    assert len(events_of(folder, "sent back")) == 1


def test_a_kill_within_the_next_attempt_does_not_forget_why_the_last_was_sent_back(place: Path) -> None:
    folder = frozen(place, tries=2)

    def stop_at_second_attempt(event: Event) -> None:
        if isinstance(event, Admitted) and event.attempt == 2:
            raise Stopped

    with pytest.raises(Stopped):
        work(place, folder, stop_at_second_attempt)
    (told,) = work(place, folder)
    assert told.startswith("Attempt 1 at what follows was sent back.")
    assert [event["attempt"] for event in events_of(folder, "landed")] == [1, 2]


def test_a_kill_between_the_last_sending_back_and_the_ending_ends_the_intent_without_another_attempt(
    place: Path,
) -> None:
    folder = frozen(place, tries=1)
    with pytest.raises(Stopped):
        work(place, folder, stop_at(SentBack))
    assert work(place, folder) == []
    (sent_back,), (ended,) = events_of(folder, "sent back"), events_of(folder, "ended")
    assert (ended["ending"], ended["reason"]) == ("sent back", sent_back["reason"])
