"""What the benches' endpoint does with each call: a plan that a seed decides."""

from __future__ import annotations

import hashlib
import math
from enum import StrEnum
from statistics import NormalDist
from typing import NamedTuple

import msgspec


class Kind(StrEnum):
    """How the endpoint replies to one call."""

    GOOD = "good"
    LIMITED = "429 with Retry-After"
    LIMITED_SILENTLY = "429 without Retry-After"
    ERROR = "500"
    BUSY = "503"
    SLOW = "slow beyond the timeout"
    DROPPED = "dropped mid-answer"
    TRUNCATED = "truncated JSON"
    EMPTY = "empty answer"
    REFUSAL = "refusal"
    PAGE = "wrong content type"
    ANOTHERS = "answer to another prompt"
    ABANDONED = "given up by the caller"


DRAWN = (
    Kind.ERROR,
    Kind.BUSY,
    Kind.SLOW,
    Kind.DROPPED,
    Kind.TRUNCATED,
    Kind.EMPTY,
    Kind.REFUSAL,
    Kind.PAGE,
    Kind.ANOTHERS,
)
"""The faults that are drawn for each call; rate limits come in bursts."""

PAID = frozenset({Kind.GOOD, Kind.EMPTY, Kind.REFUSAL})
"""Whole replies that say what they used."""

UNKNOWN = frozenset({Kind.SLOW, Kind.DROPPED, Kind.TRUNCATED, Kind.PAGE, Kind.ANOTHERS, Kind.ABANDONED})
"""Replies from which a caller cannot learn what it pays for its call."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How an endpoint behaves.

    Attributes:
        seed: what all draws come from.
        median_s, spread, longest_s: of the log-normal latency; ``spread`` is its sigma, ``longest_s`` cuts it.
        faults: the share of calls that get one of ``kinds``, each as often as the others.
        slow_s: how long a slow reply takes.
        bursts, burst_s, burst_every: so many times, after so many calls each, every call is turned away for some
            seconds, in turn with and without a Retry-After.
    """

    seed: int = 1
    median_s: float = 0.6
    spread: float = 0.5
    longest_s: float = 30.0
    faults: float = 0.0
    kinds: tuple[Kind, ...] = DRAWN
    slow_s: float = 30.0
    bursts: int = 0
    burst_s: float = 1.0
    burst_every: int = 100

    def fate(self, key: str, times: int) -> Fate:
        """Return what becomes of a prompt that is asked for the so-many-th time, from 1."""
        draws = hashlib.blake2b(f"{self.seed}:{key}:{times}".encode()).digest()
        first, second, third = (int.from_bytes(draws[at : at + 6]) / float(1 << 48) for at in (0, 6, 12))
        normal = NormalDist().inv_cdf(min(max(first, 1e-9), 1 - 1e-9))
        latency = min(self.median_s * math.exp(self.spread * normal), self.longest_s)
        kind = self.kinds[int(third * len(self.kinds))] if second < self.faults else Kind.GOOD
        return Fate(kind, self.slow_s if kind is Kind.SLOW else latency)


class Fate(NamedTuple):
    """How the endpoint replies to a call, and after how many seconds."""

    kind: Kind
    latency_s: float


class Counts(msgspec.Struct, kw_only=True):
    """What an endpoint has seen.

    Attributes:
        replies: for each prompt's key what came of its calls, in the order in which they ended.
        paid, input_tokens, output_tokens: the whole replies that said what they used, and what they said.
        most_open: the most calls that were under way at once.
    """

    replies: dict[str, list[Kind]] = {}
    paid: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    most_open: int = 0

    def of(self, *kinds: Kind) -> int:
        """Return how many calls ended so."""
        return sum(kind in kinds for ended in self.replies.values() for kind in ended)


class Used(NamedTuple):
    """The tokens that a whole reply says it used."""

    input_tokens: int
    output_tokens: int


def used_by(prompt: str, kind: Kind) -> Used:
    """Return what a paid reply to a prompt says that it used."""
    return Used(len(prompt) // 4 + 1, 0 if kind is Kind.EMPTY else 12)


def key_of(prompt: str) -> str:
    """Return the name of a prompt: 24 hex digits."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:24]


def answer_to(prompt: str) -> str:
    """Return the one right answer to a prompt."""
    return f"answer {key_of(prompt)}"
