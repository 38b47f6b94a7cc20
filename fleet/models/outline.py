"""The model ``outline``: a deterministic program that describes a file from its own structure; no key, no network.

It reads the facts of a prompt (``path``, ``outline``, ``used_by``, ``uses``, ``siblings``), not its text, so it answers
every job that gives them; its answers say by its name that no language model was asked.
"""

from __future__ import annotations

from fleet.jobs.document.describe import describe
from fleet.models.registry import NOTHING, BadModel, ModelContext, ModelSpec, Price
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Failure, NoAnswer, Prompt

ADAPTER = "outline"
DETERMINISTIC = True


class NoOutline(QodebaseError):
    """A job that gives no facts about a file."""


class OutlineModel:
    """See `qodebase.ports.Model`."""

    name = ADAPTER
    deterministic = True
    simulated = False
    local = True

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Describe the file of the prompt's facts; it costs nothing and counts no tokens.

        Raises:
            NoOutline: the job asks about no file.
        """
        facts = prompt.facts
        if "outline" not in facts:
            raise NoOutline(
                "the model outline describes files, and this job asks for something else",
                hint="Name another model: --model openai:MODEL-ID; the document job tells enough only with --usage.",
            )
        if facts["outline"] is None:
            return NoAnswer(failure=Failure.EMPTY, why="the file has no outline", model=self.name)
        text = describe(facts["path"], facts["outline"], facts["used_by"], facts["uses"], facts["siblings"])
        return Answer(text=text, model=self.name, cost_usd=0.0)

    async def close(self) -> None:
        """Hold nothing."""


def create(spec: ModelSpec, context: ModelContext) -> OutlineModel:
    """Make the model; it takes no argument."""
    if spec.argument:
        raise BadModel(f"the model outline takes no argument, not `{spec.argument}`", hint="--model outline")
    return OutlineModel()


def price(spec: ModelSpec) -> Price:
    """Return no price: it is a program on this machine."""
    return NOTHING
