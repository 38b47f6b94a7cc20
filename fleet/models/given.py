"""The model ``given``: hands back the change that an intent came with; no key, no network, and it makes nothing anew.

It reads the fact ``given`` of a prompt, which names the change. Where main moved so that merge and rules cannot redo
the change, it has nothing to say: another model must redo it (``--replay-model``), or the change is sent back.
"""

from __future__ import annotations

from fleet.models.registry import NOTHING, BadModel, ModelContext, ModelSpec, Price
from qodebase.ports import Answer, Failure, NoAnswer, Prompt

ADAPTER = "given"
DETERMINISTIC = True


class GivenModel:
    """See `qodebase.ports.Model`; ``redoes`` says that nobody need ask it about a newer text."""

    name = ADAPTER
    deterministic = True
    simulated = False
    local = True
    redoes = False

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Name the change that the prompt is about; it costs nothing and counts no tokens."""
        name = prompt.facts.get("given")
        if not isinstance(name, str):
            why = "no change was given for this; another model must make one (--replay-model, --escalate-model)"
            return NoAnswer(failure=Failure.EMPTY, why=why, model=self.name)
        return Answer(text=name, model=self.name, cost_usd=0.0)

    async def close(self) -> None:
        """Hold nothing."""


def create(spec: ModelSpec, context: ModelContext) -> GivenModel:
    """Make the model; it takes no argument."""
    if spec.argument:
        raise BadModel(f"the model given takes no argument, not `{spec.argument}`", hint="--model given")
    return GivenModel()


def price(spec: ModelSpec) -> Price:
    """Return no price: it is a program on this machine."""
    return NOTHING
