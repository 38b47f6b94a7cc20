"""The record of a landed intent, kept as a git note that people read and programs parse.

A record is a sentence, a blank line, and one ``field: JSON`` line for each field, so that ``git log --notes=qodebase``
shows it as it is and a field can be found with grep.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from qodebase.codec import JSON, BadData, convert
from qodebase.collision import Collided
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


def write_note(record: Record) -> bytes:
    """Return the bytes of the note that holds a record."""
    return write_fields(_sentence(record), record)


def write_fields(sentence: str, told: msgspec.Struct) -> bytes:
    """Return a sentence and the fields of ``told`` as the bytes of a note."""
    lines = [sentence.encode(), b""]
    lines += [name.encode() + b": " + JSON.encode(getattr(told, name)) for name in told.__struct_fields__]
    return b"\n".join(lines) + b"\n"


def read_note(note: bytes, *, source: str = "note") -> Record:
    """Read a record back.

    Raises:
        BadData: the note is not a record of ours; the message names the field.
    """
    return read_fields(note, Record, source=source)


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
        try:
            fields[name.decode()] = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadData(f"{source}: field {name[:40]!r}: {error}") from None
    return convert(fields, kind, source=source)


def _sentence(record: Record) -> str:
    parts = [f"{record.intent}: landed from attempt {record.attempt} of {record.agent} ({record.model})"]
    parts += [
        f"{collision.where} had moved under it by {_movers(collision)}, redone by {collision.resolved_by}"
        for collision in record.collisions
    ]
    return "; ".join(parts) + "."


def _movers(collision: Collided) -> str:
    landed = f"{collision.count} landed {'intent' if collision.count == 1 else 'intents'}"
    foreign = ", ".join(commit[:12] for commit in collision.foreign)
    if not foreign:
        return landed
    return f"{landed} and {foreign}" if collision.count else foreign
