from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fleet.recovery import RunDiverged, recover
from qodebase import events
from qodebase.change import REGULAR
from qodebase.clock import VirtualClock
from qodebase.collision import Clash, Collided, Kind, Step
from qodebase.intent import Ending, Intent
from qodebase.journal import Journal, read_events
from qodebase.paths import CommitId, RepoPath
from qodebase.record import Record, Times, Usage, write_note
from qodebase.state import RunState
from qodebase.trailers import ATTEMPT, INTENT, LANE, REPLAY, RUN, TRAIN
from qodebase.trunk.batch import Edit, Landed, Landing, Person
from qodebase.trunk.landing import Trunk
from qodebase.trunk.reader import Reader

COLLIDED = Collided(
    path=RepoPath(b"index"), kind=Kind.SHARED, intents=("x",), count=1, steps=(Step(by="rule:sorted-index"),)
)


class Run:
    """A repository, and a journal that may know less or more than it."""

    def __init__(self, root: Path, held: ExitStack) -> None:
        self._held = held
        self.repository = root / "repo.git"
        self.path = root / "journal.jsonl"
        self.git("init", "-q", "--bare", "-b", "main", self.repository, at=root)
        self.git("fast-import", "--quiet", given=b"commit refs/heads/main\ncommitter P <p@p> 1 +0000\ndata 4\nbase\n")
        self.base = self.tip()
        self.open()

    def open(self) -> None:
        """Begin a sitting: the state is what the journal says."""
        self.state = RunState(Intent(id=name, asked="", scope=()) for name in ("a", "b", "c"))
        self.state.apply_all(read_events(self.path) if self.path.exists() else [])
        self.journal = Journal(self.path, run="run-1", clock=VirtualClock(), listeners=(self.state.apply,))
        self._held.callback(self.journal.close)

    def git(self, *words: str | Path, at: Path | None = None, given: bytes = b"") -> bytes:
        environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        environment |= {f"GIT_{who}_{what}": "p@p" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            ["git", "-C", at or self.repository, *words], env=environment, input=given, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tip(self) -> CommitId:
        return CommitId(self.git("rev-parse", "main").decode().strip())

    def land(self, *intents: str, run: str = "run-1", collided: tuple[Collided, ...] = ()) -> list[CommitId]:
        """Land with the real trunk, as a run does that is killed before its journal hears of it."""
        person = Person(name="agent", mail="a@a", time=1)

        def landing(intent: str) -> Landing:
            def note(landed: Landed) -> bytes:
                return write_note(
                    Record(
                        run=run,
                        intent=intent,
                        asked="",
                        agent="agent",
                        model="m",
                        attempt=2,
                        replay=1,
                        lane="src",
                        train="src#1.1",
                        base=self.base,
                        parent=landed.parent,
                        tree="",
                        verdict="green",
                        checks=(),
                        collisions=collided,
                        symbols=(),
                        plan={},
                        usage=Usage(),
                        times=Times(admitted=0, answered=0, queued=0, landed=0),
                    )
                )

            words = ((RUN, run), (INTENT, intent), (ATTEMPT, "2"), (LANE, "src"), (TRAIN, "src#1.1"), (REPLAY, "1"))
            path = RepoPath(f"{run}-{intent}".encode())
            return Landing(
                message="Do it.",
                author=person,
                committer=person,
                edits={path: Edit(mode=REGULAR, content=b"1")},
                expects={path: None},
                note=note,
                trailers=words,
            )

        with Trunk.open(self.repository, branch="main", run=run) as trunk:
            results = trunk.land([landing(intent) for intent in intents], lambda edit, content: b"")
        assert all(isinstance(one, Landed) for one in results)
        return [one.commit for one in results if isinstance(one, Landed)]

    def foreign(self, message: str = "by a person") -> CommitId:
        """Put a commit of a person on main."""
        tip = self.tip()
        commit = self.git("commit-tree", f"{tip}^{{tree}}", "-p", tip, "-m", message).decode().strip()
        self.git("update-ref", "refs/heads/main", commit)
        return CommitId(commit)

    def recover(self) -> list[events.Event]:
        """Recover and return what that wrote."""
        before = self.journal.seq
        with Reader(self.repository) as reader:
            recover("run-1", self.state, self.journal, reader, tip=self.tip(), base=self.base)
        return list(read_events(self.path, since=before))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with ExitStack() as held:
        yield Run(tmp_path, held)


def test_nothing_is_written_where_journal_and_repository_agree(run: Run) -> None:
    assert run.recover() == []
    (commit,) = run.land("a")
    run.journal.write(events.Landed, intent="a", commit=commit, parent=run.base)
    assert run.recover() == []


def test_a_replay_that_the_journal_knows_is_not_written_a_second_time_with_its_landing(run: Run) -> None:
    clash = Clash(line=1, symbol="", base="a", main="b", change="c")
    redone = Collided(path=RepoPath(b"hot"), kind=Kind.CONTENT, steps=(Step(by="model:m"),))
    told = msgspec.structs.replace(redone, clashes=(clash,))
    run.journal.write(events.CollisionMet, intent="a", attempt=2, collided=told, replay=1)
    run.land("a", collided=(redone, COLLIDED))
    met, landed = run.recover()
    assert isinstance(met, events.CollisionMet)
    assert met.collided == COLLIDED
    assert isinstance(landed, events.Landed)


def test_landings_that_the_journal_lacks_are_written_as_git_has_them_and_only_once(run: Run) -> None:
    first, second = run.land("b", "a", collided=(COLLIDED,))
    where: dict[str, Any] = {
        "actor": "trunk",
        "run": "run-1",
        "attempt": 2,
        "lane": "src",
        "train": "src#1.1",
        "simulated": True,
    }
    met = events.CollisionMet(seq=1, intent="b", collided=COLLIDED, replay=1, **where)
    assert run.recover() == [
        met,
        events.Landed(seq=2, intent="b", commit=first, parent=run.base, replay=1, **where),
        events.CollisionMet(seq=3, intent="a", collided=COLLIDED, replay=1, **where),
        events.Landed(seq=4, intent="a", commit=second, parent=first, replay=1, **where),
    ]
    assert run.state.ledger()[Ending.LANDED] == 2
    assert run.state.tip == second
    assert run.recover() == []
    run.open()
    assert run.recover() == []
    assert run.state.intents["a"].landings == 1


def test_only_what_is_missing_is_written(run: Run) -> None:
    first, second, third = run.land("a", "b", "c")
    run.journal.write(events.Landed, intent="b", commit=second, parent=first)
    found = [event for event in run.recover() if isinstance(event, events.Landed)]
    assert [(event.intent, event.commit) for event in found] == [("a", first), ("c", third)]


def test_git_decides_where_the_journal_says_that_an_intent_ended_without_landing(run: Run) -> None:
    run.journal.write(events.Ended, intent="a", ending=Ending.SENT_BACK, reason="red")
    run.land("a")
    run.recover()
    assert run.state.intents["a"].ending is Ending.LANDED


def test_landings_that_git_lacks_are_an_error_that_counts_and_names_them(run: Run) -> None:
    (first,) = run.land("a")
    for intent in ("a", "b", "c"):
        run.journal.write(events.Landed, intent=intent, commit=first, parent=run.base)
    with pytest.raises(RunDiverged, match="2 intents landed by the journal and are not on main, b first") as caught:
        run.recover()
    assert caught.value.exit_code == 1
    assert "qodebase verify" in caught.value.hint


def test_main_moved_back_by_a_person_is_an_error_and_nothing_is_written(run: Run) -> None:
    run.land("a")
    run.recover()
    run.git("update-ref", "refs/heads/main", run.base)
    run.open()
    seq = run.journal.seq
    with pytest.raises(RunDiverged, match="1 intents landed"):
        run.recover()
    assert run.journal.seq == seq


def test_calls_without_an_end_are_cut_off_once(run: Run) -> None:
    asked = [
        run.journal.write(events.Asked, intent=name, attempt=1, call=call, purpose="fresh", model="m", prompt="p")
        for call, name in enumerate("aab", 1)
    ]
    run.journal.write(events.Answered, intent="a", attempt=1, call=1, outcome="answer", model="m")
    found = run.recover()
    assert [(type(event), event.intent, event.attempt) for event in found] == [
        (events.CutOff, "a", 1),
        (events.CutOff, "b", 1),
    ]
    assert [event.call for event in found if isinstance(event, events.CutOff)] == [2, 3]
    assert asked[1].call == 2
    assert run.recover() == []


def test_commits_of_people_and_of_other_runs_are_foreign_and_named_once(run: Run) -> None:
    first = run.foreign()
    run.land("a")
    (second,) = run.land("a", run="run-2")
    third = run.foreign()
    found = [event for event in run.recover() if isinstance(event, events.Foreign)]
    assert [event.commits for event in found] == [(first, second, third)]
    fourth = run.foreign()
    run.open()
    assert [event.commits for event in run.recover() if isinstance(event, events.Foreign)] == [(fourth,)]
    assert run.state.ledger()[Ending.LANDED] == 1


def test_where_a_commit_copies_our_trailers_the_first_one_is_the_landing(run: Run) -> None:
    (commit,) = run.land("a")
    run.foreign(f"Again\n\n{RUN}: run-1\n{INTENT}: a\n")
    (landed,) = [event for event in run.recover() if isinstance(event, events.Landed)]
    assert landed.commit == commit


@pytest.mark.parametrize("spoil", ["remove", "replace", "all"])
def test_a_note_that_a_person_took_away_or_changed_keeps_nobody_from_going_on(run: Run, spoil: str) -> None:
    (commit,) = run.land("a", collided=(COLLIDED,))
    spoils: dict[str, Callable[[], bytes]] = {
        "remove": lambda: run.git("notes", "--ref=qodebase", "remove", commit),
        "replace": lambda: run.git("notes", "--ref=qodebase", "add", "-f", "-m", "my own words", commit),
        "all": lambda: run.git("update-ref", "-d", "refs/notes/qodebase"),
    }
    spoils[spoil]()
    (landed,) = run.recover()
    assert isinstance(landed, events.Landed)
    assert (landed.commit, landed.attempt, landed.lane) == (commit, 2, "src")


def test_an_intent_that_the_run_does_not_have_is_passed_over(run: Run) -> None:
    run.land("z")
    assert run.recover() == []
