"""The scripted model: answers that the job wrote, spoiled at stated rates, deterministic from a seed.

What happens to a prompt depends on the seed and the prompt's digest, not on the order of calls; a try after a
provider error is drawn anew. ``prompt.facts["scripted"]`` holds what a perfect model would answer.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from statistics import NormalDist

from fleet.models.registry import NOTHING, BadModel, ModelContext, ModelSpec, Price
from fleet.specs import from_parts, parts_of
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Clock, Failure, NoAnswer, Prompt

ADAPTER = "scripted"
SIMULATED = True
DETERMINISTIC = True

FACT = "scripted"
"""The key of `Prompt.facts` that holds the perfect answer."""

_RATES = ("error", "empty", "cut", "refused", "wrong")


class NoScript(QodebaseError):
    """A job that wrote no answer for the scripted model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """How a scripted model behaves.

    Attributes:
        seed: what all draws come from.
        latency: median seconds of a call; 0 is no waiting at all.
        spread: sigma of the log-normal that latencies are drawn from.
        error, empty, cut, refused, wrong: the share of calls that end so; their sum is at most 1.
    """

    seed: int = 0
    latency: float = 0.0
    spread: float = 0.5
    error: float = 0.0
    empty: float = 0.0
    cut: float = 0.0
    refused: float = 0.0
    wrong: float = 0.0

    def __post_init__(self) -> None:
        rates = [getattr(self, name) for name in _RATES]
        if any(not 0 <= rate <= 1 for rate in rates) or sum(rates) > 1 + 1e-9:
            raise BadModel(
                "the rates of a scripted model must each be 0 to 1, and 1 at most in all",
                hint=f"Rates: {', '.join(_RATES)}.",
            )
        if not (0 <= self.latency < math.inf and 0 <= self.spread < math.inf):
            raise BadModel("`latency` and `spread` of a scripted model must be 0 or more")

    @classmethod
    def parse(cls, text: str) -> Script:
        """Read ``seed=7,wrong=0.05,latency=0.2``.

        Raises:
            BadModel: a name or a value is not allowed.
        """
        return cls.of(parts_of(text))

    @classmethod
    def of(cls, values: dict[str, str]) -> Script:
        """Make a script of named values; see `parse`."""
        return from_parts(cls, values, what="a scripted model", refused=BadModel)


class ScriptedModel:
    """Answers from ``facts``, as its script says."""

    deterministic = True
    simulated = True
    local = True

    def __init__(self, name: str, script: Script, clock: Clock, price: Price | None = None) -> None:
        self.name = name
        self.script = script
        self._clock = clock
        self._price = price
        self._errors: dict[str, int] = {}

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Answer as the script says.

        Raises:
            NoScript: the job gave no text.
        """
        text = prompt.facts.get(FACT)
        if not isinstance(text, str):
            raise NoScript(
                f"the job has no answers for the model {self.name}",
                hint=f'It must put the text of a perfect answer into its prompts\' facts["{FACT}"].',
            )
        digest = prompt.digest
        draw = _Draw(f"{self.script.seed}:{digest}:{self._errors.get(digest, 0)}")
        if self.script.latency:
            await self._clock.sleep(self.script.latency * math.exp(self.script.spread * draw.normal()))
        fate = self._fate(draw.uniform())
        if fate == "error":
            self._errors[digest] = self._errors.get(digest, 0) + 1
            return NoAnswer(failure=Failure.PROVIDER, why="a scripted provider error", model=self.name, retry=True)
        return self._ending(fate, prompt, text, draw)

    def _fate(self, at: float) -> str:
        for name in _RATES:
            at -= getattr(self.script, name)
            if at < 0:
                return name
        return ""

    def _ending(self, fate: str, prompt: Prompt, text: str, draw: _Draw) -> Answer | NoAnswer:
        given = "" if fate in ("empty", "refused") else text
        if fate == "wrong":
            given = _garbage(text, int(draw.uniform() * 4))
        tokens_in = sum(len(message.text) for message in prompt.messages) // 4 + 1
        tokens_out = prompt.max_output_tokens if fate == "cut" else len(given) // 4 + 1
        cost = 0.0
        if self._price is not None:
            cost = self._price.cost(input_tokens=tokens_in, cached_tokens=0, output_tokens=tokens_out)
        if fate in ("", "wrong"):
            return Answer(text=given, model=self.name, input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=cost)
        failure = {"empty": Failure.EMPTY, "cut": Failure.CUT_OFF, "refused": Failure.REFUSED}[fate]
        return NoAnswer(
            failure=failure,
            why=f"scripted: {failure}",
            model=self.name,
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            cost_usd=cost,
        )

    async def close(self) -> None:
        """Hold nothing."""


class _Draw:
    """Numbers drawn one after the other from a text: 8 bytes of its BLAKE2b digest each."""

    def __init__(self, text: str) -> None:
        self._bytes = hashlib.blake2b(text.encode()).digest()
        self._at = 0

    def uniform(self) -> float:
        """Return a number from 0 up to, without, 1."""
        self._at += 8
        return (int.from_bytes(self._bytes[self._at - 8 : self._at]) >> 11) / float(1 << 53)

    def normal(self) -> float:
        """Return a number of the standard normal distribution."""
        return NormalDist().inv_cdf(max(self.uniform(), 1e-12))


def _garbage(text: str, kind: int) -> str:
    """Return one of four answers that models give instead of the right one."""
    if kind == 0:
        return "```\n```"
    if kind == 1:
        return "I'm sorry, but I can't see the file that you mean. Could you paste it here?"
    if kind == 2:
        return f'*/ """ {text[::-1]} \\'
    return f"{text} " * 40


def create(spec: ModelSpec, context: ModelContext) -> ScriptedModel:
    """Make a scripted model from its argument or, for a job file's table, from ``params``."""
    if spec.table.params:
        script = Script.of({name: str(value) for name, value in spec.table.params.items()})
    else:
        script = Script.parse(spec.argument)
    return ScriptedModel(spec.name, script, context.clock, spec.table.price)


def price(spec: ModelSpec) -> Price:
    """Return no price: nobody is paid."""
    return NOTHING
