"""The record of a landed intent, kept as a git note that people read and programs parse.

A record is a sentence, a blank line, and one ``field: JSON`` line for each field, so that ``git log --notes=qodebase``
shows it as it is and a field can be found with grep.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from qodebase.codec import JSON, BadData, convert
from qodebase.collision import Collided
from qodebase.intent import Undone
from qodebase.paths import CommitId

VERSION = 1

Told = TypeVar("Told", bound=msgspec.Struct)


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What the calls of an attempt used; ``cost_usd`` None means that the price is not known."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Return both together; the cost is unknown where one is."""
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds since the epoch on the run's clock, of the attempt that landed."""

    admitted: float
    answered: float
    queued: float
    landed: float


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where the run itself landed what stands on another commit now: its commit, that one's parent, the base."""

    commit: CommitId
    parent: CommitId
    base: CommitId


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked, what happened and what it cost.

    Attributes:
        run, intent, attempt, lane, train, replay: the same words as in the commit's trailers.
        asked: the intent's sentence.
        agent, model: who made the change; ``deterministic`` says that no language model was asked.
        simulated: the model's answers or the clock were simulated.
        base: the commit that the change was made on.
        parent: the main tip that it landed on.
        tree, verdict: the train's gated tree and what the gate said of it.
        checks: the checks that ran for the train.
        collisions: every path that had moved, and how it was redone.
        symbols: what the change touches, as ``path#name``.
        plan: digests of the prompt, the answer and the change that the run folder keeps.
        usage, times: cost and clock.
        undoes: what the commit takes back; a record of any other commit has no such field.
        origin: of a record that was carried to a commit outside the run: what it was there. ``base`` and ``parent``
            are then the commit below this one; gate, collisions and times are the run's.
    """

    v: int = VERSION
    run: str
    intent: str
    asked: str
    agent: str
    model: str
    attempt: int
    replay: int
    lane: str
    train: str
    base: CommitId
    parent: CommitId
    tree: str
    verdict: str
    checks: tuple[str, ...]
    collisions: tuple[Collided, ...]
    symbols: tuple[str, ...]
    plan: dict[str, str]
    usage: Usage
    times: Times
    deterministic: bool = False
    simulated: bool = False
    undoes: Undone | None = None
    origin: Origin | None = None

    def carried(self, landed: CommitId, parent: CommitId) -> Record:
        """Return the record for another commit that holds the same work.

        Args:
            landed: the commit that this record stands on.
            parent: the commit below the other one.
        """
        origin = self.origin or Origin(commit=landed, parent=self.parent, base=self.base)
        return msgspec.structs.replace(self, base=parent, parent=parent, origin=origin)


def write_note(record: Record) -> bytes:
    """Return the bytes of the note that holds a record."""
    return write_fields(_sentence(record), record)


def write_notes(records: Sequence[Record]) -> bytes:
    """Return the bytes of the note of a commit that holds the work of several intents: one note behind the other."""
    return b"\n".join(map(write_note, records))


def write_fields(sentence: str, told: msgspec.Struct) -> bytes:
    """Return a sentence and the fields of ``told`` as the bytes of a note."""
    lines = [sentence.encode(), b""]
    fields = ((name, getattr(told, name)) for name in told.__struct_fields__)
    lines += [name.encode() + b": " + JSON.encode(value) for name, value in fields if value is not None]
    return b"\n".join(lines) + b"\n"


def read_note(note: bytes, *, source: str = "note") -> Record:
    """Read a record back.

    Raises:
        BadData: the note is not a record of ours; the message names the field.
    """
    return read_fields(note, Record, source=source)


def read_notes(note: bytes, *, source: str = "note") -> tuple[Record, ...]:
    """Read all records of a note back, one or several.

    Raises:
        BadData: a part of the note is no record of ours; the message names the field.
    """
    parts = note.rstrip(b"\n").split(b"\n\n")
    pairs = zip(parts[::2], [*parts[1::2], b""] if len(parts) % 2 else parts[1::2], strict=True)
    return tuple(read_note(b"\n\n".join(pair), source=source) for pair in pairs)


def read_fields(note: bytes, kind: type[Told], *, source: str) -> Told:
    """Read the fields of a note.

    Raises:
        BadData: they are not those of ``kind``; the message names the field.
    """
    _, _, body = note.partition(b"\n\n")
    fields = {}
    for line in body.splitlines():
        name, separator, value = line.partition(b": ")
        if not separator:
            raise BadData(f"{source}: a line without a field: {line[:60]!r}")
        if name.decode(errors="replace") in fields:
            raise BadData(f"{source}: field {name[:40]!r} stands there twice")
        try:
            fields[name.decode()] = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadData(f"{source}: field {name[:40]!r}: {error}") from None
    return convert(fields, kind, source=source)


def _sentence(record: Record) -> str:
    parts = [f"{record.intent}: landed from attempt {record.attempt} of {record.agent} ({record.model})"]
    parts += [f"carried here from {record.origin.commit} of run {record.run}"] if record.origin else []
    parts += [f"undoes {record.undoes.commit} ({record.undoes.intent})"] if record.undoes else []
    parts += [
        f"{collision.where} had moved under it by {_movers(collision)}, redone by {collision.resolved_by}"
        for collision in record.collisions
    ]
    return "; ".join(parts) + "."


def _movers(collision: Collided) -> str:
    landed = f"{collision.count} landed {'intent' if collision.count == 1 else 'intents'}"
    foreign = ", ".join(commit[:12] for commit in collision.foreign)
    if not foreign:
        return landed if collision.count else "what came before the run"
    return f"{landed} and {foreign}" if collision.count else foreign
