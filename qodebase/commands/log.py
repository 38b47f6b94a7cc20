"""`qodebase log`: what happened to the intents of a run."""

from __future__ import annotations

import json as json_text
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting, say
from qodebase.commands.support.layout import columns, harmless, indented, moment, money, shortened

if TYPE_CHECKING:
    from qodebase.commands.support.story import Call, Line, Story
    from qodebase.record import Record
    from qodebase.runs import RunFolder

_LINES = 12
_ID = re.compile(r"\b[0-9a-f]{40}\b")
_HEADER = frozenset({"v", "seq", "at", "run", "kind", "actor", "intent", "attempt", "lane", "train", "simulated"})


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def log(
        run: RunName,
        intent: Annotated[
            str | None, typer.Argument(metavar="[INTENT]", help="Its whole story: an id, a path or a commit.")
        ] = None,
        json: Json = False,
    ) -> None:
        """Show how each intent ended, or the whole story of one.

        A story is its events, the calls with prompts and answers, and the record that landed with it.
        """
        from qodebase.commands.support.opening import find_run

        folder = find_run(run)
        if intent is None:
            _show_all(folder, json=json)
        else:
            _show_one(folder, intent, json=json)


def _show_all(folder: RunFolder, *, json: bool) -> None:
    from qodebase.commands.support.story import ended_lines
    from results.run_data import RunData

    data = RunData(folder)
    lines = ended_lines(data)
    pending = len(data.intents) - len(lines)
    if json:
        put_json({"intents": [asdict(line) for line in lines], "pending": pending})
        return
    simulated = bool(data.events) and data.events[-1].simulated
    for row in columns(_row(line, moment(line.at, started_at=data.started_at, simulated=simulated)) for line in lines):
        put(harmless(row))
    say(f"{len(lines)} intents ended, {pending} pending")


def _show_one(folder: RunFolder, name: str, *, json: bool) -> None:
    from qodebase.commands.support.story import story_of

    story, data = story_of(folder, name)
    if json:
        put_json(story.as_dict())
        return
    put(harmless("\n".join(_story(story, started_at=data.started_at))))


def _row(line: Line, when: str) -> tuple[str, ...]:
    last = f"{line.intent}  {line.reason}".rstrip()
    return (
        when or "at the freeze",
        line.ending,
        line.lane or "-",
        ", ".join(line.redone) or "-",
        line.commit[:12] or "-",
        last,
    )


def _story(story: Story, *, started_at: float) -> list[str]:
    line = story.line
    how = f"landed as {line.commit}" if line.commit else f"{line.ending}: {line.reason}" if line.reason else line.ending
    lines = [f"{line.intent}: {how}", f"  asked: {story.intent.asked}"]
    lines.append(f"  scope: {', '.join(path.text for path in story.intent.scope)}")
    if story.events:
        lines += ["", "events", *columns(_events(story, started_at), indent=2)]
    lines += _clashes(story)
    for call in story.calls:
        lines += ["", *_call(call)]
    if story.record is not None:
        lines += ["", "record", *columns(_record(story.record), indent=2)]
    return [*lines, *(f"cannot be read: {fault}" for fault in story.trouble)]


def _events(story: Story, started_at: float) -> list[tuple[str, str, str]]:
    events = story.as_dict()["events"]
    return [
        (
            moment(event["at"], started_at=started_at, simulated=event.get("simulated", False)),
            f"{event['kind']} {event['attempt']}"
            if event["kind"] == "admitted" and "attempt" in event
            else event["kind"],
            _told(event),
        )
        for event in events
    ]


def _told(event: dict[str, Any]) -> str:
    """Return an event's own fields in a row, a collision in words."""
    parts = [event[name] for name in ("actor", "train") if event.get(name)]
    for name, value in event.items():
        if name == "collided":
            parts.append(_collided(value))
        elif name not in _HEADER and name not in ("ref", "change", "prompt", "answer"):
            parts.append(f"{name} {value if isinstance(value, str) else json_text.dumps(value, ensure_ascii=False)}")
    return _ID.sub(lambda id: id[0][:12], ", ".join(parts))


def _collided(collided: dict[str, Any]) -> str:
    steps = [
        f"{step['by']} declined ({step['declined']})" if step.get("declined") else f"redone by {step['by']}"
        for step in collided.get("steps", ())
    ]
    movers = collided.get("count", 0)
    return f"{collided['path']} ({collided['kind']}) moved by {movers} landed: {'; '.join(steps) or 'no step'}"


def _clashes(story: Story) -> list[str]:
    """Return the regions that main and a change both edited, where merge and rules declined."""
    from qodebase.collision import Clash
    from replay_rules.conflict import described

    lines: list[str] = []
    for event in story.as_dict()["events"]:
        collided = event.get("collided", {})
        found = [Clash(**clash) for clash in collided.get("clashes", ())]
        if found:
            lines += ["", "clash", *indented(described(collided["path"], found)).splitlines()]
    return lines


def _call(call: Call) -> list[str]:
    cost = "cost not known" if call.cost_usd is None else money(call.cost_usd)
    outcome = f"{call.outcome}{f' ({call.why})' if call.why else ''}" if call.outcome else "no end in the journal"
    tokens = f"{call.input_tokens} tokens in ({call.cached_tokens} cached), {call.output_tokens} out"
    source = f" from {call.source}" if call.source else ""
    lines = [f"call {call.call} of attempt {call.attempt}, {call.purpose}: {call.model}{source}, {outcome}"]
    lines.append(f"  {tokens}, {cost}, {call.latency_s:.2f} s")
    for name, text in (("prompt", call.prompt), ("answer", call.answer)):
        if text:
            lines += [f"  {name}:", indented(shortened(text, most=_LINES))]
    return lines


def _record(record: Record) -> list[tuple[str, str]]:
    import msgspec

    from qodebase.codec import JSON

    plain = msgspec.json.decode(JSON.encode(record))
    return [
        (name, value if isinstance(value, str) else json_text.dumps(value, ensure_ascii=False))
        for name, value in plain.items()
    ]
