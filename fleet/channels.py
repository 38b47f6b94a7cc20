"""The models of a run, each with its gate and its price, and which of them is asked for what."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.models.registry import Price
from fleet.throttle import Throttle
from qodebase.caps import Most
from qodebase.events import ModelKind
from qodebase.ports import Model, Prompt

_MESSAGE_TOKENS = 16
"""More than what providers put around a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """One model as the fleet reaches it.

    Attributes:
        throttle: the gate in front of it; None: none.
        price: what its tokens cost; None: that is not known.
        output_limit: output tokens that each of its requests allows; None: as many as the prompt says.
    """

    model: Model
    throttle: Throttle | None = None
    price: Price | None = None
    output_limit: int | None = None

    def most(self, prompt: Prompt) -> Most:
        """Return the most that one call uses; a program that stands in for a language model uses nothing."""
        if self.model.deterministic and not self.model.simulated:
            return Most()
        return most_of(prompt, self.price, self.output_limit)


def most_of(prompt: Prompt, price: Price | None, output_limit: int | None = None) -> Most:
    """Return the most that one call uses.

    No tokenizer makes more than one token of a byte, so a prompt's bytes are the most that its text can count.
    """
    tokens_in = sum(_bytes(message.text) + _MESSAGE_TOKENS for message in prompt.messages)
    tokens_out = prompt.max_output_tokens if output_limit is None else output_limit
    return Most(tokens_in + tokens_out, None if price is None else price.most(tokens_in, tokens_out))


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """The models of a run by what they are for; a purpose without a model of its own takes that of fresh work."""

    fresh: Channel
    replay: Channel | None = None
    escalate: Channel | None = None

    @property
    def all(self) -> tuple[Channel, ...]:
        """Return each channel once."""
        named = (self.fresh, self.replay, self.escalate)
        return tuple({id(channel): channel for channel in named if channel is not None}.values())

    @property
    def kinds(self) -> dict[str, ModelKind]:
        """Return of what kind each model is, by its name."""
        models = [channel.model for channel in self.all]
        return {one.name: ModelKind(deterministic=one.deterministic, simulated=one.simulated) for one in models}

    @property
    def redoes(self) -> bool:
        """Return whether somebody is there who can redo a change on a newer text."""
        asked = (self.choose("replay", attempt=1), self.choose("replay", attempt=1, failed=True))
        return any(getattr(channel.model, "redoes", True) for channel in asked)

    @property
    def gates(self) -> tuple[Throttle, ...]:
        """Return the gates that there are."""
        return tuple(channel.throttle for channel in self.all if channel.throttle is not None)

    def named(self, name: str) -> Channel:
        """Return the channel of the model with a name; that of fresh work where none is called so."""
        return next((channel for channel in self.all if channel.model.name == name), self.fresh)

    def choose(self, purpose: str, *, attempt: int, failed: bool = False) -> Channel:
        """Return who is asked.

        Args:
            purpose: ``fresh`` or ``replay``.
            attempt: from the second on, the model to escalate to is asked.
            failed: a replay before this one failed; then too.
        """
        if self.escalate is not None and (attempt > 1 or failed):
            return self.escalate
        return self.replay if purpose == "replay" and self.replay is not None else self.fresh
