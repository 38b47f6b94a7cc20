"""The state that main is expected to come to, and the train that is made on it while another is at the gate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from lanes.fork import Fork, Main
from lanes.submission import Submission
from lanes.train import Member, Train, edits_of
from qodebase.collision import Entry
from qodebase.edits import Edit
from qodebase.paths import CommitId, RepoPath
from replay_rules.placing import Laid


class GuessedFork(Laid):
    """Main with the train at the gate laid on it; its commit is main's tip of now, for there is no other yet."""

    def __init__(self, fork: Fork, edits: dict[RepoPath, Edit | None], paths: Iterable[RepoPath]) -> None:
        super().__init__(fork, edits)
        self._fork = fork
        self._laid = edits
        self.shown = {path: self.entry(path) for path in paths}

    @property
    def commit(self) -> CommitId:
        """Return main's tip when the guess was made."""
        return self._fork.commit

    @property
    def laid(self) -> Mapping[RepoPath, Edit | None]:
        """Return what the guess lays on that commit."""
        return self._laid

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every entry, new ones last."""
        there = set()
        for path, entry in self._fork.walk():
            there.add(path)
            if (now := self.entry(path) if path in self._laid else entry) is not None:
                yield path, now
        for path, edit in self._laid.items():
            if edit is not None and path not in there:
                yield path, edit.entry


class Guess:
    """What a train at the gate will leave, if it lands whole; ``over`` is set when it is known what it left."""

    def __init__(self, main: Main, members: Sequence[Member]) -> None:
        self._main = main
        self._edits = edits_of(members)
        self._named = frozenset(member.submission.intent.id for member in members)
        self._landed: frozenset[str] = frozenset()
        self._listeners: list[Callable[[], None]] = []
        self.over = asyncio.Event()

    def fork(self, paths: Collection[RepoPath]) -> GuessedFork:
        """Take a fork of the guessed state."""
        return GuessedFork(self._main.fork(paths), self._edits, paths)

    def right(self, fork: GuessedFork, named: Iterable[str]) -> bool:
        """Return whether main holds what a fork showed, and all that were ``named`` as landed have."""
        landed = self._named.intersection(named) <= self._landed
        return landed and all(self._main.entry(path) == entry for path, entry in fork.shown.items())

    def when_over(self, listener: Callable[[], None]) -> None:
        """Call a listener when it is known what the train left, at once where it is."""
        if self.over.is_set():
            listener()
        else:
            self._listeners.append(listener)

    def forget(self, listener: Callable[[], None]) -> None:
        """Call a listener no more."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def settle(self, landed: Iterable[str]) -> None:
        """Take in which intents have landed."""
        self._landed = frozenset(landed)
        self.over.set()
        for listener in tuple(self._listeners):
            listener()


class Ahead:
    """The next train of a lane, coupled while ``first`` is at the gate, and those that must be coupled behind it."""

    def __init__(self, main: Main, first: Train, train: Train) -> None:
        self.guess = Guess(main, first.members)
        self.train = train
        self.behind: list[Submission] = []
        train.before = tuple(first.members)

    def __len__(self) -> int:
        return len(self.train.members)

    def follows(self, submission: Submission) -> bool:
        """Return whether a change was of the train at the gate, so that the guess lays it on main already."""
        return any(member.submission.intent.id == submission.intent.id for member in self.train.before)

    @property
    def submissions(self) -> list[Submission]:
        """Return the members' submissions."""
        return [member.submission for member in self.train.members]
