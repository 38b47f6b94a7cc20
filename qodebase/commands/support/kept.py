"""What a run keeps of its attempts: prompts, answers and changes, read by reference."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import msgspec

from qodebase.change import Change
from qodebase.codec import pack_decoder
from qodebase.ports import Message
from qodebase.segments import BadSegment, SegmentReader

_CHANGE = pack_decoder(Change)
_PROMPT = msgspec.json.Decoder(tuple[Message, ...])


class Kept:
    """Read the attempts of a run folder; close it when done."""

    def __init__(self, attempts: Path) -> None:
        self._segments = SegmentReader(attempts)

    def __enter__(self) -> Kept:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._segments.close()

    def change(self, ref: str) -> Change:
        """Return a change; raises `BadSegment` where it cannot be read."""
        try:
            change: Change = _CHANGE.decode(self._segments.get(ref))
        except (msgspec.DecodeError, ValueError) as error:
            raise BadSegment(f"attempts {ref} hold no change: {error}") from None
        return change

    def prompt(self, ref: str) -> str:
        """Return a prompt as text, each message below its role; empty where none was kept."""
        if not ref:
            return ""
        try:
            messages = _PROMPT.decode(self._segments.get(ref))
        except msgspec.DecodeError as error:
            raise BadSegment(f"attempts {ref} hold no prompt: {error}") from None
        return "\n\n".join(f"[{message.role}]\n{message.text.strip()}" for message in messages)

    def answer(self, ref: str) -> str:
        """Return an answer's text; empty where none was kept."""
        return self._segments.get(ref).decode(errors="replace") if ref else ""
