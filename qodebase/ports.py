"""What crosses the layers upwards: protocols, and the values that they speak in.

Lanes and results receive these; fleet and replay_rules implement them. Every value can be encoded to bytes
(`qodebase.codec`), so that an engine, a model or a checker may live in another process or on another machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from qodebase.change import Change
from qodebase.check import Check
from qodebase.collision import Collided, Collision, Declined, Entry, Resolved
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.record import Usage


class Clock(Protocol):
    """Time, passed in."""

    @property
    def simulated(self) -> bool:
        """Return whether the seconds are virtual."""

    def now(self) -> float:
        """Return seconds since the epoch."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""

    def working(self) -> AbstractContextManager[None]:
        """Mark real work in flight, so that virtual time stands still."""


class Tree(Protocol):
    """The code at one commit, read only."""

    @property
    def commit(self) -> CommitId:
        """Return the commit."""

    def entry(self, path: RepoPath) -> Entry | None:
        """Return what the tree holds at a path, or None."""

    def read(self, path: RepoPath) -> bytes:
        """Return the content of a file; raises `KeyError` where there is none."""

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        """Yield every file, link and submodule, in git's order."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a prompt; ``role`` is system, user or assistant."""

    role: str
    text: str


class Prompt(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a model is asked.

    ``facts`` holds the same question as data, for models that are programs; it is not part of the digest and is not
    sent to a language model. ``shows`` names the files whose text stands in the messages, beside those of the intent's
    scope, which always count as shown. ``printed`` are parts of the messages that checks wrote: nobody knows beforehand
    of which files they show text.
    """

    messages: tuple[Message, ...]
    max_output_tokens: int
    facts: dict[str, Any] = {}
    shows: tuple[RepoPath, ...] = ()
    printed: tuple[str, ...] = ()

    def saying(self, messages: tuple[Message, ...]) -> Prompt:
        """Return the same question in other words."""
        return msgspec.structs.replace(self, messages=messages)

    def quoting(self, *printed: str) -> Prompt:
        """Return the same question, these parts of its words told as written by checks."""
        return msgspec.structs.replace(self, printed=(*self.printed, *filter(None, printed)))

    def knowing(self, **facts: Any) -> Prompt:
        """Return the same question with more facts."""
        return msgspec.structs.replace(self, facts={**self.facts, **facts})

    def digested(self, digest: str) -> Prompt:
        """Take the digest that another process computed of this very prompt; return self."""
        self.__dict__["digest"] = digest
        return self

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of messages and limit, 64 hex digits."""
        parts = [f"{message.role}\0{message.text}" for message in self.messages]
        return hashlib.sha256("\0".join([str(self.max_output_tokens), *parts]).encode()).hexdigest()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A model's answer; tokens as the provider counts them, ``cost_usd`` None where the price is not known.

    ``latency_s`` is how many seconds of wall time the provider took, where that was measured; 0: it was not.
    ``named`` is what the provider called the model that answered, empty where it did not say.
    """

    text: str
    model: str
    named: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    source: str = "provider"
    latency_s: float = 0.0

    def taking(self, seconds: float) -> Answer:
        """Return the same as one that took so long."""
        return msgspec.structs.replace(self, latency_s=seconds)


class Failure(StrEnum):
    """Why a call gave no answer.

    ``CAP`` is a call that was not made, because the run may use no more; ``NEVER_SENT`` one that would have shown what
    must not leave the machine; ``SECRET`` one that would have shown a secret, or whose answer brought one.
    """

    EMPTY = "empty"
    CUT_OFF = "cut off"
    REFUSED = "refused"
    TOO_LONG = "prompt too long"
    NOT_CACHED = "not cached"
    PROVIDER = "provider error"
    RATE = "rate limited"
    ANOTHERS = "answer to another prompt"
    TIMEOUT = "timeout"
    CAP = "at the cap"
    SECRET = "secret"
    NEVER_SENT = "never sent"


class NoAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A call that gave no answer; what it used was paid all the same."""

    failure: Failure
    why: str
    model: str
    retry: bool = False
    retry_after_s: float | None = None
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    def saying(self, why: str) -> NoAnswer:
        """Return the same with another ``why``."""
        return self if why == self.why else msgspec.structs.replace(self, why=why)


class Model(Protocol):
    """Answers prompts.

    ``deterministic`` says that no language model is behind it, ``simulated`` that its answers stand for another's,
    ``local`` that no prompt leaves the machine. Two more may be left out: ``reads_words`` says that it never looks at a
    prompt's facts, ``free`` that it loses nothing to be asked again.
    """

    name: str
    deterministic: bool
    simulated: bool
    local: bool

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Answer one prompt; expected failures are values."""

    async def close(self) -> None:
        """Give back what the model holds."""


class Unusable(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that is no change: the intent's ending (no answer, or refused) and why."""

    ending: Ending
    why: str


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """A change made from an answer; ``sanitised`` names what was made harmless in the answer's text."""

    change: Change
    sanitised: tuple[str, ...] = ()


class SharedPath(msgspec.Struct, frozen=True, kw_only=True):
    """A path bound to a pure rule and read by no check: it chooses no lane and is redone at landing.

    Attributes:
        lane: the only lane whose changes touch it; empty: any.
        compose_into: where the path is a shard: when all intents have ended, the rule folds all shards of that path
            into it, and they are deleted, in one commit. An audit is given the landings of all shards for it.
    """

    path: RepoPath
    rule: str
    lane: str = ""
    compose_into: RepoPath | None = None


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """A landed intent as an audit sees it: its journalled change, its commit and that commit's parent.

    ``moved`` says where the parent has the files of the scope that main renamed since the run's base, and ``attempt``
    which one at the intent it was, counted from 1.
    """

    intent: Intent
    change: Change
    commit: CommitId
    parent: CommitId
    moved: dict[RepoPath, RepoPath] = {}
    attempt: int = 1

    @property
    def scope(self) -> tuple[RepoPath, ...]:
        """Return the intent's scope, where main had it when the change landed."""
        return tuple(self.moved.get(path, path) for path in self.intent.scope)


class JobAudit(Protocol):
    """Prove a job's own promise again, from the base and the journalled changes."""

    def proof(self, landing: Landing, before: Tree, after: Tree, *, full: bool) -> str:
        """Return what is wrong with what a landing did to its scope, or the empty text."""

    def shared_edit(self, landing: Landing, path: RepoPath, before: Tree, after: Tree) -> str:
        """Return what is wrong with what a landing did to a shared path, or the empty text."""

    def shared_whole(
        self, path: RepoPath, base: bytes | None, final: bytes | None, landed: Iterable[Landing]
    ) -> list[str]:
        """Return what is wrong with a shared path at the end: lines missing, doubled, not of a landed change."""

    def account(self, path: RepoPath) -> Mapping[str, int]:
        """Return the counts that the last `shared_whole` of a path found (lines expected and there, say)."""


class ReplayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a model needs to redo an intent on the newest main.

    Attributes:
        change: the original change.
        collided: the paths that moved and what the ladder said.
        since: ids of the intents that landed in between and moved these paths.
        replay: counts from 1 within the attempt.
        failed: why the replay before this one did not do.
    """

    intent: Intent
    attempt: int
    change: Change
    collided: tuple[Collided, ...]
    since: tuple[str, ...] = ()
    replay: int = 1
    failed: str = ""


class Job(Protocol):
    """Makes the intents of a run and turns a model's answer into a change.

    A job with ``apart`` True may be opened a second time, in a process that makes prompts, changes and proofs of one
    run together with this one: they must follow from intent, answer and fork alone.
    """

    name: str

    @property
    def digest(self) -> str:
        """Return a digest of the job's code, prompts and settings; a run goes on only with the same."""

    @property
    def shared(self) -> tuple[SharedPath, ...]:
        """Return the shared paths and their rules."""

    def open(self, base: Tree) -> None:
        """Take the code that the run began on; called once, before anything else."""

    def ready(self) -> None:
        """Do what prompts need and what takes long, before agents start; called in a thread of its own."""

    def close(self) -> None:
        """Give back what the job holds."""

    def lanes(self) -> Mapping[str, Sequence[str]]:
        """Return lane names with their path patterns (gitignore syntax); empty: choose by looking at the tree."""

    def intents(self) -> Iterator[Intent]:
        """Yield every intent on the base, in a stable order, ended ones included."""

    def prompt(self, intent: Intent, fork: Tree, replay: ReplayRequest | None = None) -> Prompt:
        """Return what to ask, on the fork that the agent sees."""

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        """Turn an answer into a change against the fork."""

    def proof(self, intent: Intent, change: Change, fork: Tree) -> str | Unusable:
        """Check the job's own promise; return in words what was proved."""

    def idempotent(self, path: RepoPath) -> bool:
        """Return whether a hunk that two intents make alike in this path is meant once."""

    def audit(self) -> JobAudit:
        """Return the audit of this job's promise."""


class Redone(msgspec.Struct, frozen=True, kw_only=True):
    """An intent that a model redid on a newer main, and what that used; for the flags see `Model`."""

    change: Change
    model: str
    usage: Usage
    plan: dict[str, str] = {}
    deterministic: bool = False
    simulated: bool = False


class Postponed(msgspec.Struct, frozen=True, kw_only=True):
    """A model is needed and may not be asked now, and why; the intent stays pending."""

    why: str


class Redo(Protocol):
    """The model's step of the replay ladder; the lane awaits it when merge and rules declined."""

    async def redo(self, request: ReplayRequest, fork: Tree) -> Redone | Declined | Postponed:
        """Redo an intent on ``fork``, main's newest tip, and journal how."""


class ThrownAway(msgspec.Struct, frozen=True, kw_only=True):
    """A replay on a state that main did not come to, and what it used."""

    usage: Usage


@runtime_checkable
class RedoAhead(Protocol):
    """A `Redo` that can begin on a state that main is only expected to come to."""

    async def redo_ahead(
        self, request: ReplayRequest, fork: Tree, settled: Callable[[Change], Awaitable[Change | None]]
    ) -> Redone | Declined | Postponed | ThrownAway:
        """Redo an intent on a guessed state; ``settled`` gives the change on main, or None where the guess was wrong.

        It waits until that is known; nothing of the change is journalled before.
        """


class Rule(Protocol):
    """A deterministic, pure replay of one path."""

    def __call__(self, collision: Collision) -> Resolved | Declined:
        """Return the content on the newest main, proved by the rule's own invariant, or why not."""


class Verdict(StrEnum):
    """What the gate, or a reviewer, says of a tree."""

    GREEN = "green"
    RED = "red"
    HOLD = "hold"


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on one tree.

    Attributes:
        output: what a person needs to see of it, failures first.
        read: the paths that the checks opened, or looked for in vain; one that ends with a slash is a folder whose
            names were listed, ``/`` the root; None means everything. See `qodebase.check.concerns`.
        failed: the checks that were red.
        reads: the same as ``read`` for each check that was run.
        mentions: for checks of which that is known, the words of all code that they may come to in what they read, in
            parts: where a Python file there changed in nothing but what other names mean, it is as if it had not.
    """

    tree: str
    verdict: Verdict
    checks: tuple[str, ...] = ()
    output: str = ""
    flake: bool = False
    read: tuple[RepoPath, ...] | None = ()
    failed: tuple[str, ...] = ()
    reads: dict[str, tuple[RepoPath, ...] | None] = {}
    mentions: dict[str, tuple[frozenset[str], ...]] = {}


class Checker(Protocol):
    """Runs checks on a tree."""

    async def check(self, tree: str, checks: Sequence[str]) -> Judgement:
        """Judge the tree with the checks."""


class Reviewer(Protocol):
    """Looks at a merged tree; its verdict is bound to that tree, so a replay voids it."""

    async def review(self, intent: Intent, change: Change, tree: str) -> Judgement:
        """Say green, red or hold."""


class Claims(Protocol):
    """Claims on symbols before work, and objections at landing."""

    def claim(self, intent: Intent) -> str:
        """Claim the intent's symbols; return why it must wait, or the empty text."""

    def object(self, intent: Intent, change: Change) -> str:
        """Return why another claim forbids this landing, or the empty text."""

    def release(self, intent: Intent) -> None:
        """Give the claims back."""


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """Admission has no intent to hand out now, and why."""

    why: str


class Admission(Protocol):
    """Hands agents their next intent."""

    def next(self) -> Intent | Wait | None:
        """Return an intent, a reason to wait, or None when nothing will come any more."""

    async def changed(self) -> None:
        """Return when a waiting agent should ask again."""


class Engine(Protocol):
    """Runs agents: ``work(number)`` is one agent from its first intent to its last."""

    async def run(self, agents: int, work: Callable[[int], Awaitable[None]]) -> None:
        """Run so many agents to their end; the first bug stops all."""


@runtime_checkable
class Routed(Protocol):
    """A job whose shared paths follow from the run's lanes."""

    def route(self, lanes: Mapping[str, Sequence[str]], landings: int) -> None:
        """Take the run's lanes with their patterns, and how many landings are expected; called once, after `open`."""


@runtime_checkable
class Interruptible(Protocol):
    """A job that takes long to be ready, and can be told to give that up."""

    def interrupt(self) -> None:
        """End `ready`, which another thread is in, with any error; the job is not used any more."""


@runtime_checkable
class HasChecks(Protocol):
    """A job that declares checks."""

    def checks(self) -> Mapping[str, Check]:
        """Return the checks that intents name, from the job and the run's base; called after `open`."""


@runtime_checkable
class ReadsRepository(Protocol):
    """A job that reads other commits than the run's base."""

    def read_from(self, git: Path) -> None:
        """Take the repository that the base is in: the user's before the freeze, then the run's own; before `open`."""

    def bring_to(self, git: Path) -> None:
        """Put what the intents need into the run's own repository; called once, at the freeze."""


@runtime_checkable
class Verifies(Protocol):
    """A job whose agents look at their own work before they hand it in."""

    def verifying(self) -> Mapping[str, Check]:
        """Return, by intent, the check that an agent runs on its own fork with its change; called after `open`."""


@runtime_checkable
class HasFlags(Protocol):
    """A job class whose settings type gives the command line its flags."""

    Settings: type[Any]
