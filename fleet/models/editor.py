"""The model ``editor``: a program that does the recipes of tasks on whatever source it is shown, wrong at stated rates.

It stands for a language model that writes code, so its answers are simulated. What it does with an intent depends on
the seed, the intent, the attempt and the replay, not on the order of calls or on the text that it is shown. It reads
``prompt.facts``: ``task`` and ``sources``, and ``attempt`` and ``replay`` where they are not 1 and 0.
"""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fleet.models.registry import NOTHING, BadModel, ModelContext, ModelSpec, Price
from fleet.specs import from_parts, parts_of
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Clock, NoAnswer, Prompt

if TYPE_CHECKING:
    from fleet.jobs.tasks.task import Task, Wrong

ADAPTER = "editor"
SIMULATED = True
DETERMINISTIC = True

_RATES = ("wrong", "wrong_redone")
_RELATIVE = ("fails", "misses", "breaks")
_SECONDS = ("fresh", "redone", "fresh_spread", "redone_spread")


class NoRecipe(QodebaseError):
    """A job, or a task, that a program cannot do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Editing:
    """How an editor behaves.

    Attributes:
        seed: what all draws come from.
        wrong, wrong_redone: the share of fresh answers, and of redone ones, that are wrong; ``wrong_redone`` -1 is the
            same as ``wrong``.
        fails, misses, breaks: the relative parts of the kinds of wrong answers, see `fleet.jobs.tasks.task.Wrong`.
        fresh, redone: median seconds of a fresh and of a redone answer; 0 is no waiting at all.
        fresh_spread, redone_spread: sigma of the log-normals that these are drawn from; 0: always the median.
    """

    seed: int = 0
    wrong: float = 0.0
    wrong_redone: float = -1.0
    fails: float = 1.0
    misses: float = 1.0
    breaks: float = 1.0
    fresh: float = 0.0
    redone: float = 0.0
    fresh_spread: float = 0.3
    redone_spread: float = 0.3

    def __post_init__(self) -> None:
        if not 0 <= self.wrong <= 1 or not (0 <= self.wrong_redone <= 1 or self.wrong_redone == -1):
            raise BadModel("`wrong` and `wrong_redone` of an editor must be 0 to 1")
        parts = [getattr(self, name) for name in _RELATIVE]
        if any(not 0 <= part < math.inf for part in parts) or not sum(parts):
            raise BadModel("`fails`, `misses` and `breaks` of an editor must be 0 or more, and one of them more")
        if any(not 0 <= getattr(self, name) < math.inf for name in _SECONDS):
            raise BadModel(f"{', '.join(_SECONDS)} of an editor must be 0 or more")

    @classmethod
    def parse(cls, text: str) -> Editing:
        """Read ``seed=7,wrong=0.05,fresh=20,redone=22.1``.

        Raises:
            BadModel: a name or a value is not allowed.
        """
        return cls.of(parts_of(text))

    @classmethod
    def of(cls, values: dict[str, str]) -> Editing:
        """Make it of named values; see `parse`."""
        return from_parts(cls, values, what="an editor", refused=BadModel)


class Drawn(NamedTuple):
    """What becomes of one question: how its answer is wrong (None: it is right), and the seconds that it takes."""

    wrong: Wrong | None
    latency_s: float


class Editor:
    """Does recipes, as its settings say; see `qodebase.ports.Model`."""

    deterministic = True
    simulated = True
    local = True

    def __init__(self, name: str, editing: Editing, clock: Clock) -> None:
        self.name = name
        self.editing = editing
        self._clock = clock

    def draw(self, intent: str, attempt: int = 1, replay: int = 0) -> Drawn:
        """Return what becomes of an intent's question; replays count from 1 within an attempt, 0 is the fresh one."""
        from fleet.jobs.tasks.task import Wrong

        set_to = self.editing
        digest = hashlib.sha256(f"{set_to.seed}:{intent}:{attempt}:{replay}".encode()).digest()
        rng = random.Random(digest)
        at, kind, normal = rng.random(), rng.random(), rng.gauss(0.0, 1.0)
        rate = set_to.wrong_redone if replay and set_to.wrong_redone >= 0 else set_to.wrong
        median, spread = (set_to.redone, set_to.redone_spread) if replay else (set_to.fresh, set_to.fresh_spread)
        wrong = None
        if at < rate:
            parts = [getattr(set_to, name) for name in _RELATIVE]
            kind *= sum(parts)
            below = parts[0] + (parts[1] if kind >= parts[0] else 0.0)
            wrong = Wrong.BREAKS if kind >= below else Wrong.MISSES if kind >= parts[0] else Wrong.FAILS
        return Drawn(wrong, median * math.exp(spread * normal))

    async def answer(self, prompt: Prompt) -> Answer | NoAnswer:
        """Do the task of the prompt's facts on its sources.

        Raises:
            NoRecipe: the job gives no tasks, or this one is for language models only.
        """
        task = prompt.facts.get("task")
        if task is None or getattr(task, "recipe", None) is None:
            raise NoRecipe(
                "the model editor does generated tasks only",
                hint="Name another model for tasks of a folder: --model openai:MODEL-ID.",
            )
        drawn = self.draw(task.id, prompt.facts.get("attempt", 1), prompt.facts.get("replay", 0))
        if drawn.latency_s:
            await self._clock.sleep(drawn.latency_s)
        text = written(task, prompt.facts["sources"], drawn.wrong)
        tokens = sum(len(message.text) for message in prompt.messages) // 4 + 1
        return Answer(text=text, model=self.name, input_tokens=tokens, output_tokens=len(text) // 4 + 1, cost_usd=0.0)

    async def close(self) -> None:
        """Hold nothing."""


def written(task: Task, sources: dict[bytes, str], wrong: Wrong | None = None) -> str:
    """Return the answer to a task on these sources, right or wrong in a stated way; or that its target is gone."""
    from fleet.jobs.tasks.answers import render
    from fleet.jobs.tasks.operations import Gone, break_function, perform
    from fleet.jobs.tasks.task import Wrong

    recipe = task.recipe
    assert recipe is not None, "only tasks with a recipe"
    try:
        sections = perform(sources, recipe, recipe.words(wrong))  # type: ignore[arg-type]
        if wrong is Wrong.BREAKS:
            break_function(sources[recipe.path], recipe.victim, sections[recipe.path])
    except Gone as error:
        return f"GONE {error}"
    return render(sections)


def create(spec: ModelSpec, context: ModelContext) -> Editor:
    """Make an editor from its argument or, for a job file's table, from ``params``."""
    if spec.table.params:
        editing = Editing.of({name: str(value) for name, value in spec.table.params.items()})
    else:
        editing = Editing.parse(spec.argument)
    return Editor(spec.name, editing, context.clock)


def price(spec: ModelSpec) -> Price:
    """Return no price: it is a program on this machine."""
    return NOTHING
