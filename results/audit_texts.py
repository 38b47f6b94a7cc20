"""Audit what the attempts keep: every prompt, answer and change has the digest that the journal names."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Container
from contextlib import closing

from qodebase.codec import NotDecoded, json_decoder
from qodebase.events import Admitted, Answered, AnyEvent, Asked, ChangeMade, Replayed, Unknown, Unverified
from qodebase.ports import Message, Prompt
from qodebase.segments import BadSegment, SegmentReader
from results.evidence import Evidence
from results.findings import Check, Notebook

_MESSAGES = json_decoder(tuple[Message, ...])
_TAKEN_OUT = b"[]"
"""What an archive without prompts has in the place of one."""


def check_texts(evidence: Evidence) -> tuple[Check, list[str]]:
    """Compare what is kept with its digests; return the check, and in words what could not be compared.

    The change of a landing is left out: its content is audited. A power cut may take texts that no landing had waited
    for, so of those it is only noted that they cannot be read.
    """
    book = Notebook("texts")
    landed = {(intent, one.attempt, one.replay) for intent, ones in evidence.landed.items() for one in ones}
    waited_for = _waited_for(evidence)
    counts: Counter[str] = Counter()
    with closing(SegmentReader(evidence.folder.attempts)) as segments:
        for place, event in enumerate(evidence.events):
            what, ref, digest = _kept(event, landed)
            if not ref:
                continue
            intents = (event.intent,) if event.intent else ()
            try:
                same = _is_as_named(event, segments.get(ref), digest)
            except (BadSegment, zlib.error):
                needed = place > waited_for.get((event.intent, event.attempt), place)
                message = f"a kept {what} cannot be read"
                (book.wrong if needed else book.note)(message, intents=intents)
                continue
            counts[what if same is not None else "not compared"] += 1
            if same is False:
                book.wrong(f"the {what} that is kept is not the one that the journal names", intents=intents)
    unknown = counts["not compared"]
    missing = [f"{unknown} prompts: their texts were taken out, or their limits are not in the journal"]
    told = f"{counts['prompt']} prompts, {counts['answer']} answers, {counts['change']} other changes"
    return book.check(told), missing if unknown else []


def _waited_for(evidence: Evidence) -> dict[tuple[str | None, int | None], int]:
    """Return behind which place what is kept of a landed attempt was on the disk before it landed: its newest start."""
    landed = {(intent, one.attempt) for intent, ones in evidence.landed.items() for one in ones}
    starts = ((place, event) for place, event in enumerate(evidence.events) if isinstance(event, Admitted))
    return {(event.intent, event.attempt): place for place, event in starts if (event.intent, event.attempt) in landed}


def _kept(event: AnyEvent | Unknown, landed: Container[tuple[str | None, int | None, int]]) -> tuple[str, str, str]:
    """Return what an event keeps, where (empty: nothing) and its digest."""
    match event:
        case Asked():
            return "prompt", event.ref, event.prompt
        case Answered():
            return "answer", event.ref, event.answer
        case ChangeMade() if (event.intent, event.attempt, 0) not in landed:
            return "change", event.ref, event.change
        case Replayed() if (event.intent, event.attempt, event.replay) not in landed:
            return "change", event.ref, event.change
        case Unverified():
            return "change", event.ref, event.change
        case _:
            return "", "", ""


def _is_as_named(event: AnyEvent | Unknown, kept: bytes, digest: str) -> bool | None:
    """Return whether what is kept has the digest that an event names; None: that cannot be known."""
    if not isinstance(event, Asked):
        return hashlib.sha256(kept).hexdigest() == digest
    if not event.limit or kept == _TAKEN_OUT:
        return None
    try:
        return Prompt(messages=_MESSAGES.decode(kept), max_output_tokens=event.limit).digest == digest
    except (NotDecoded, UnicodeError):
        return False
