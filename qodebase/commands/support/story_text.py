"""The story of an intent in words: how it ended, each event, each collision, each call, the record."""

from __future__ import annotations

import json as json_text
import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from qodebase.collision import Clash, Collided, Step
from qodebase.commands.support.layout import columns, indented, moment, money, shortened
from qodebase.events import CollisionMet, SentBack

if TYPE_CHECKING:
    from qodebase.commands.support.story import Call, Story
    from qodebase.record import Record, Usage

_LINES = 12
_ID = re.compile(r"\b[0-9a-f]{40}\b")
_HEADER = frozenset({"v", "seq", "at", "run", "kind", "actor", "intent", "attempt", "lane", "train", "simulated"})
_ELSEWHERE = frozenset({"ref", "change", "prompt", "answer", "detail"})


def story_lines(story: Story, *, started_at: float, whole: bool) -> list[str]:
    """Return a story as lines.

    Args:
        started_at: when the run began, for times that are simulated.
        whole: show prompts and answers as they are, not only their first lines.
    """
    line = story.line
    how = f"landed as {line.commit}" if line.commit else f"{line.ending}: {line.reason}" if line.reason else line.ending
    lines = [f"{line.intent}: {how}", f"  asked: {story.intent.asked}"]
    lines.append(f"  scope: {', '.join(path.text for path in story.intent.scope)}")
    if story.calls:
        lines.append(f"  used:  {_used(story.usage)}")
    if story.events:
        lines += ["", "events", *columns(_events(story, started_at), indent=2)]
    for event in story.events:
        if isinstance(event, CollisionMet):
            lines += ["", *_collision(event)]
        elif isinstance(event, SentBack):
            lines += ["", *_sent_back(event, line.reason)]
    for call in story.calls:
        lines += ["", *_call(call, kept=story.texts_kept, whole=whole)]
    if story.changes:
        lines += [
            "",
            f"changes: {len(story.changes)} handed in; what the last one does: qodebase diff RUN {line.intent}",
        ]
    if story.record is not None:
        lines += ["", "record", *columns(_record(story.record), indent=2)]
    return [*lines, *(f"cannot be read: {fault}" for fault in story.trouble)]


def _used(usage: Usage) -> str:
    cost = "cost not known" if usage.cost_usd is None else money(usage.cost_usd)
    calls = "1 call" if usage.calls == 1 else f"{usage.calls} calls"
    return f"{calls}, {usage.input_tokens} tokens in ({usage.cached_tokens} cached), {usage.output_tokens} out, {cost}"


def _events(story: Story, started_at: float) -> Iterator[tuple[str, str, str]]:
    for event in story.as_dict()["events"]:
        kind = event["kind"]
        yield (
            moment(event["at"], started_at=started_at, simulated=event.get("simulated", False)),
            f"{kind} {event['attempt']}" if kind == "admitted" and "attempt" in event else kind,
            _told(event, story.line.reason),
        )


def _told(event: dict[str, Any], ended: str) -> str:
    """Return an event's own fields in a row; what a section below tells, or the first line told, is left out."""
    parts = [event[name] for name in ("actor", "train") if event.get(name)]
    for name, value in event.items():
        if name == "collided":
            parts.append(_outcome(value))
        elif name == "reason" and (value == ended or event["kind"] == "sent back"):
            continue
        elif name not in _HEADER and name not in _ELSEWHERE:
            parts.append(f"{name} {value if isinstance(value, str) else json_text.dumps(value, ensure_ascii=False)}")
    return _ID.sub(lambda id: id[0][:12], ", ".join(parts))


def _outcome(collided: dict[str, Any]) -> str:
    last = collided.get("steps", [{}])[-1]
    redone = "no step" if not last else "not redone" if last.get("declined") else f"redone by {last['by']}"
    where = f"{collided['path']} (now {collided['moved_to']})" if "moved_to" in collided else collided["path"]
    return f"{where} ({collided['kind']}) moved by {collided.get('count', 0)} landed: {redone}"


def _collision(event: CollisionMet) -> list[str]:
    """Return who moved a path, what each step said, and the regions that both sides edited where steps declined."""
    from replay_rules.conflict import described

    collided: Collided = event.collided
    movers = ", ".join([*collided.intents, *(f"commit {commit[:12]}" for commit in collided.foreign)])
    lines = [f"collision of {collided.where} in attempt {event.attempt}, moved by {movers or 'nobody known'}"]
    lines += columns(_steps(collided.steps), indent=2)
    clashes: tuple[Clash, ...] = collided.clashes
    if clashes:
        path = collided.path if collided.moved_to is None else collided.moved_to
        lines += ["  clash", *indented(described(path.text, clashes)).splitlines()]
    return lines


def _steps(steps: tuple[Step, ...]) -> Iterator[tuple[str, str]]:
    """Yield each step with what it said; neighbours that said the same stand together."""
    for said, group in groupby(steps, key=lambda step: step.declined):
        names = [step.by for step in group]
        if said:
            yield f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0], f"declined: {said}"
        else:
            yield from ((name, "redone") for name in names)


def _sent_back(event: SentBack, ended: str) -> list[str]:
    """Return why an attempt was sent back, in the words that the next one is told, but for what the ending says too."""
    texts = ("" if event.reason == ended else event.reason, event.detail)
    return [f"attempt {event.attempt} was sent back", *(indented(text) for text in texts if text)]


def _call(call: Call, *, kept: bool, whole: bool) -> list[str]:
    cost = "cost not known" if call.cost_usd is None else money(call.cost_usd)
    outcome = f"{call.outcome}{f' ({call.why})' if call.why else ''}" if call.outcome else "no end in the journal"
    tokens = f"{call.input_tokens} tokens in ({call.cached_tokens} cached), {call.output_tokens} out"
    source = f" from {call.source}" if call.source else ""
    lines = [f"call {call.call} of attempt {call.attempt}, {call.purpose}: {call.model}{source}, {outcome}"]
    lines.append(f"  {tokens}, {cost}, {call.latency_s:.2f} s")
    texts = (("prompt", call.prompt, call.prompt_sha256), ("answer", call.answer, call.answer_sha256))
    for name, text, digest in texts:
        if text:
            lines += [f"  {name}:", indented(text if whole else shortened(text, most=_LINES))]
        elif digest and not kept:
            lines.append(f"  {name}: not kept (--keep-prompts off), SHA-256 {digest}")
    return lines


def _record(record: Record) -> Iterator[tuple[str, str]]:
    import msgspec

    from qodebase.codec import JSON

    for name, value in msgspec.json.decode(JSON.encode(record)).items():
        if name != "collisions":
            yield name, value if isinstance(value, str) else json_text.dumps(value, ensure_ascii=False)
        elif value:
            yield name, "; ".join(map(_outcome, value))
