"""The kinds of events in a journal: each a type, told apart by the field ``kind``.

Every event has ``v, seq, at, run, kind, actor`` and, where they apply, ``intent, attempt, lane, train``. ``at`` is in
seconds since the epoch on the run's clock; fields named ``real_*`` are wall time and are the only ones that differ
between two virtual runs of one seed. ``ref`` fields point into the run's attempts (`qodebase.segments.Ref`).
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from qodebase.caps import Caps
from qodebase.collision import Collided
from qodebase.intent import Ending
from qodebase.paths import CommitId, RepoPath

VERSION = 1


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What all events share."""

    durable: ClassVar[bool] = False
    """Whether the journal is synced to disk before the writer goes on."""

    v: int = VERSION
    seq: int = 0
    at: float = 0.0
    run: str = ""
    actor: str = ""
    intent: str | None = None
    attempt: int | None = None
    lane: str | None = None
    train: str | None = None
    simulated: bool = False


class ModelKind(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model is: see `qodebase.ports.Model`."""

    deterministic: bool = False
    simulated: bool = False


class RunStarted(Event, frozen=True, kw_only=True, omit_defaults=True, tag="run started"):
    """A process began to work on the run; ``sitting`` counts them from 1, ``caps`` hold until the next one begins.

    ``models`` says of what kind the models are that the sitting may ask, by their names.
    """

    durable: ClassVar[bool] = True
    sitting: int
    base: CommitId
    tip: CommitId
    workers: int
    limit: int | None = None
    caps: Caps = Caps()
    models: dict[str, ModelKind] = {}
    real_pid: int


class RunStopped(Event, frozen=True, kw_only=True, omit_defaults=True, tag="run stopped"):
    """The sitting ended: ``why`` is ended, limit, interrupted, stalled, capped or condition.

    ``detail`` names the cap that was reached, or the stop condition that came true.
    """

    durable: ClassVar[bool] = True
    why: str
    detail: str = ""
    tip: CommitId


class Ordered(Event, frozen=True, kw_only=True, omit_defaults=True, tag="ordered"):
    """A person told the run what to do; ``what`` is pause, resume, drain or cancel, ``order`` the order's id.

    A cancel is of ``intents``, or of every one that is pending where ``everything`` says so; ``reason`` is that of
    their endings. Where ``lane`` is set the order is of that lane alone.
    """

    durable: ClassVar[bool] = True
    what: str
    order: str = ""
    intents: tuple[str, ...] = ()
    everything: bool = False
    reason: str = ""


class Stalled(Event, frozen=True, kw_only=True, omit_defaults=True, tag="stalled"):
    """Nothing was answered, landed or ended for ``real_s`` seconds; ``real_hangs`` names what is under way."""

    real_s: float
    real_hangs: tuple[str, ...]


class Held(Event, frozen=True, kw_only=True, omit_defaults=True, tag="held"):
    """Admission passed over an intent for the first time: ``by``, which an agent works on, claims some of the same."""

    by: str


class Admitted(Event, frozen=True, kw_only=True, omit_defaults=True, tag="admitted"):
    """An agent took an intent; ``base`` is main's tip at that moment, its fork."""

    base: CommitId


class Asked(Event, frozen=True, kw_only=True, omit_defaults=True, tag="asked"):
    """A model is about to be called; journalled before the call is made.

    ``purpose`` is fresh or replay; ``prompt`` the digest of the prompt, ``ref`` where it is kept. ``most_tokens`` and
    ``most_usd`` are what the call can use at most (None: the price is not known); 0 where nobody is asked. ``limit`` is
    how many tokens the prompt allows the answer, which its digest covers.
    """

    call: int
    purpose: str
    model: str
    prompt: str
    ref: str = ""
    most_tokens: int = 0
    most_usd: float | None = 0.0
    limit: int = 0


class Withheld(Event, frozen=True, kw_only=True, omit_defaults=True, tag="withheld"):
    """A prompt held what must not leave the machine; ``shown`` says what and where, never a secret's value.

    ``how`` is refused, where the prompt was not sent, or redacted, where placeholders went in its place; ``why`` is
    secret or never sent.
    """

    how: str
    why: str
    shown: tuple[str, ...]


class Answered(Event, frozen=True, kw_only=True, omit_defaults=True, tag="answered"):
    """A call ended with an answer or without one.

    ``outcome`` is ``answer`` or the kind of failure; ``cost_usd`` None means that the cost is not known.
    ``source`` is provider, cache or run (an answer that the run already held). ``named`` is what the provider called
    the model that answered, empty where it did not say.
    """

    call: int
    outcome: str
    why: str = ""
    source: str = "provider"
    model: str
    named: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    latency_s: float = 0.0
    answer: str = ""
    ref: str = ""


class CutOff(Event, frozen=True, kw_only=True, omit_defaults=True, tag="cut off"):
    """A call was under way when its sitting was killed or its intent cancelled; what it cost is not known."""

    call: int
    model: str


class Postponed(Event, frozen=True, kw_only=True, omit_defaults=True, tag="postponed"):
    """An intent needs a call of a model and none may be made now; it stays pending, and goes on in a later sitting."""

    why: str


class ChangeMade(Event, frozen=True, kw_only=True, omit_defaults=True, tag="change made"):
    """An agent handed in a change; ``proof`` says what was proved of it."""

    base: CommitId
    change: str
    ref: str
    paths: tuple[RepoPath, ...]
    proof: str = ""
    sanitised: tuple[str, ...] = ()


class Unverified(Event, frozen=True, kw_only=True, omit_defaults=True, tag="unverified"):
    """An agent's own check was red on the change that it had made, which it did not hand in.

    ``replay`` counts from 1 for a redone change; ``ref`` holds the change.
    """

    base: CommitId
    change: str
    ref: str
    paths: tuple[RepoPath, ...]
    replay: int = 0


class Queued(Event, frozen=True, kw_only=True, omit_defaults=True, tag="queued"):
    """A change entered its lanes; ``lane`` is the first of ``lanes``.

    Where there are several, ``widened_by`` holds the first path of each but the first, which makes the change wait
    there too.
    """

    lanes: tuple[str, ...]
    priority: int = 100
    widened_by: tuple[RepoPath, ...] = ()


class TrainBuilt(Event, frozen=True, kw_only=True, omit_defaults=True, tag="train built"):
    """A lane coupled changes on the newest main; ``tree`` is what the gate judges.

    ``size`` is the most that the lane would have coupled; ``guessed`` says that it was coupled while the one before it
    was at the gate.
    """

    members: tuple[str, ...]
    tip: CommitId
    tree: str
    size: int = 0
    guessed: bool = False


class Judged(Event, frozen=True, kw_only=True, omit_defaults=True, tag="judged"):
    """The gate gave its verdict on a tree; a train without checks is green with ``checks`` 0.

    ``of`` says what was judged where that is no train: the base, main, or a commit that a bisection asked for.
    ``runs`` is how often checks were run for it: 0 where the verdict was known, 2 where what was red was run again.
    ``inherited`` counts the checks that were green on another tree and looked at nothing that is different on this one.
    ``failed`` names at most eight of the checks that were red.
    """

    tree: str
    verdict: str
    checks: int
    flake: bool = False
    of: str = ""
    runs: int = 0
    inherited: int = 0
    failed: tuple[str, ...] = ()


class Flaky(Event, frozen=True, kw_only=True, omit_defaults=True, tag="flaky"):
    """Checks came out both ways on one tree; ``on_main`` says that they do so on main too, which blames no change."""

    checks: tuple[str, ...]
    on_main: bool


class NeverInForce(Event, frozen=True, kw_only=True, omit_defaults=True, tag="never in force"):
    """Standing checks of the job are red on the base, so that they can hold nobody to anything."""

    checks: tuple[str, ...]


class CheckLost(Event, frozen=True, kw_only=True, omit_defaults=True, tag="check lost"):
    """A check of the contract is red on main, and no longer in force.

    ``owner`` is the intent whose check it is (empty: a standing one), ``commit`` the first one that it is red on,
    ``by`` the intent that landed there (empty: somebody else's commit), and ``cause`` what the bisection says.
    """

    check: str
    owner: str = ""
    by: str = ""
    commit: CommitId
    cause: str


class Wasted(Event, frozen=True, kw_only=True, omit_defaults=True, tag="wasted"):
    """A model redid a change on a state that main did not come to, so that its answer was thrown away.

    ``calls`` is how many calls it took, ``cost_usd`` what they cost, None where that is not known.
    """

    replay: int
    why: str
    calls: int = 0
    cost_usd: float | None = 0.0


class CollisionMet(Event, frozen=True, kw_only=True, omit_defaults=True, tag="collision"):
    """A path had moved under a change."""

    collided: Collided
    replay: int = 0


class Replayed(Event, frozen=True, kw_only=True, omit_defaults=True, tag="replayed"):
    """A model redid the intent on the newest main; ``ref`` holds the new change, ``replay`` counts from 1."""

    base: CommitId
    replay: int
    change: str
    ref: str
    paths: tuple[RepoPath, ...] = ()


class SentBack(Event, frozen=True, kw_only=True, omit_defaults=True, tag="sent back"):
    """An attempt did not land; the next one is told ``reason`` and ``detail`` as they stand here."""

    reason: str
    detail: str = ""


class Landed(Event, frozen=True, kw_only=True, omit_defaults=True, tag="landed"):
    """The intent is on main; written after the refs are synced, so git knows it first."""

    commit: CommitId
    parent: CommitId
    replay: int = 0


class Composed(Event, frozen=True, kw_only=True, omit_defaults=True, tag="composed"):
    """The shards of a shared path were folded into it by one commit; written after the refs are synced."""

    commit: CommitId
    parent: CommitId
    path: RepoPath
    shards: tuple[RepoPath, ...]


class Ended(Event, frozen=True, kw_only=True, omit_defaults=True, tag="ended"):
    """The intent ended without landing."""

    ending: Ending
    reason: str


class Foreign(Event, frozen=True, kw_only=True, omit_defaults=True, tag="foreign"):
    """Someone else's commits were found on main."""

    commits: tuple[CommitId, ...]


class Pushed(Event, frozen=True, kw_only=True, omit_defaults=True, tag="pushed"):
    """The branch that the run lands on holds ``landings`` more commits of the run, up to ``tip``.

    ``notes`` is where the notes are there (empty: it was pushed before a kill, and found again), ``tries`` how often
    the batch was landed and pushed until nobody was faster. Written after the landings that it tells of.
    """

    tip: CommitId
    notes: str = ""
    landings: int
    tries: int = 1


class Unknown(Event, frozen=True, kw_only=True, omit_defaults=True, tag="unknown"):
    """An event of a kind that this version does not know; its own fields are left out."""


AnyEvent = (
    RunStarted
    | RunStopped
    | Ordered
    | Stalled
    | Held
    | Admitted
    | Asked
    | Withheld
    | Answered
    | CutOff
    | Postponed
    | ChangeMade
    | Unverified
    | Queued
    | TrainBuilt
    | Judged
    | Flaky
    | NeverInForce
    | CheckLost
    | Wasted
    | CollisionMet
    | Replayed
    | SentBack
    | Landed
    | Composed
    | Ended
    | Foreign
    | Pushed
)
