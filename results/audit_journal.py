"""Audit the journal by itself: whole, in order, of this run, and one ending for each frozen intent."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from qodebase.events import Admitted, Answered, Asked, ChangeMade, CutOff, Ended, Event, Landed, RunStarted, Unknown
from qodebase.intent import Ending
from results.evidence import Evidence
from results.findings import Check, Notebook
from results.ledger import Ledger


def check_journal(evidence: Evidence) -> Check:
    """Look for lines that are missing, doubled, cut, or of another run."""
    book = Notebook("journal")
    if evidence.broken:
        book.wrong(f"the journal cannot be read further: {evidence.broken}")
    previous: Event | None = None
    for event in evidence.events:
        expected = previous.seq + 1 if previous else 1
        if event.seq > expected:
            book.wrong(_gap(expected, event.seq - 1, previous, event), intents=_named(previous, event))
        elif event.seq < expected:
            book.wrong(f"event {event.seq} stands behind event {expected - 1}", intents=_named(event))
        if event.run != evidence.settings.run:
            book.wrong(f"events of another run: {event.run}", intents=_named(event))
        if isinstance(event, Unknown):
            book.note("events of a kind that this version does not know", intents=_named(event))
        previous = event
    torn = _torn_bytes(evidence.folder.journal)
    if torn:
        book.note(f"the last line is torn: {torn} bytes, cut off when the run is resumed")
    _check_sittings(evidence, book)
    _compare_calls(evidence, book)
    return book.check(f"{len(evidence.events)} events, {evidence.state.sittings} sittings")


def _check_sittings(evidence: Evidence, book: Notebook) -> None:
    """Each sitting counts one more than the one before, on the run's base; one that ended the run leaves nothing."""
    sittings = 0
    for event in evidence.events:
        match event:
            case RunStarted():
                sittings += 1
                if event.sitting != sittings:
                    book.wrong(f"sitting {event.sitting} begins where sitting {sittings} is due")
                if event.base != evidence.settings.base:
                    book.wrong("a sitting began on another base than the run's", commits=(event.base,))
            case Admitted() if not sittings:
                book.wrong("an agent took it before any sitting began", intents=_named(event))
    if evidence.state.stopped == "ended":
        pending = [id for id, known in evidence.state.intents.items() if known.ending is Ending.PENDING]
        if pending:
            book.wrong("pending, and the run stopped because every intent had ended", intents=pending)


def check_ledger(ledger: Ledger) -> Check:
    """Check that journal and repository agree on the ending of every intent, and that the sum is right."""
    findings = ledger.discrepancies
    return Check(name="ledger", counted=ledger.sentence, findings=findings, noted=ledger.noted)


def check_endings(evidence: Evidence) -> Check:
    """Check that every frozen intent has at most one ending, and that no other intent is in the journal."""
    book = Notebook("endings")
    if not evidence.folder.intents_as_frozen():
        book.wrong(f"the frozen intents were changed; {evidence.settings.intents} were frozen")
    endings: Counter[str] = Counter(
        {id: 1 for id, intent in evidence.intents.items() if intent.ending != Ending.PENDING}
    )
    for event in evidence.events:
        if event.intent is None:
            continue
        if event.intent not in evidence.intents:
            book.wrong("in the journal, but not among the frozen intents", intents=(event.intent,))
        endings[event.intent] += isinstance(event, Landed | Ended)
    for id, count in endings.items():
        if count > 1:
            book.wrong(f"ended {count} times", intents=(id,))
    ended = sum(count > 0 for count in endings.values())
    return book.check(f"{len(evidence.intents)} frozen intents, {ended} ended")


def _compare_calls(evidence: Evidence, book: Notebook) -> None:
    """Every call that a provider ended was begun, every change belongs to a journalled attempt's landing or ending."""
    asked: set[tuple[str | None, int]] = set()
    for event in evidence.events:
        match event:
            case Asked():
                asked.add((event.intent, event.call))
            case Answered(source="provider") | CutOff():
                if (event.intent, event.call) not in asked:
                    book.wrong("a call has an end and no beginning", intents=_named(event))
    handed_in = {event.intent for event in evidence.events if isinstance(event, ChangeMade)}
    for intent in evidence.landed:
        if intent not in handed_in:
            book.wrong("landed, and no change of it was ever handed in", intents=(intent,))


def _gap(first: int, last: int, before: Event | None, after: Event) -> str:
    missing = f"event {first} is missing" if first == last else f"events {first} to {last} are missing"
    return f"{missing}, between {_told(before)} and {_told(after)}"


def _told(event: Event | None) -> str:
    if event is None:
        return "the beginning"
    kind = event.__struct_config__.tag
    return f"`{kind}` of {event.intent}" if event.intent else f"`{kind}`"


def _named(*events: Event | None) -> list[str]:
    return [event.intent for event in events if event is not None and event.intent]


def _torn_bytes(journal: Path) -> int:
    if not journal.exists():
        return 0
    with journal.open("rb") as lines:
        lines.seek(max(0, journal.stat().st_size - (1 << 20)))
        return len(lines.read().rpartition(b"\n")[2])
