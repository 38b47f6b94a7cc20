"""What a run would do: the dry run, and one prompt to look at."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from qodebase.commands.support.layout import columns, some
from qodebase.commands.support.starting import Prepared
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent
from qodebase.ports import Prompt

BYTES_A_TOKEN = 4
"""What a token is taken for where no provider has counted it."""


class NoSuchIntent(QodebaseError):
    """A path that no intent is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run would do.

    Attributes:
        endings: intents by ending; pending ones would be worked on.
        reasons: for those that end before any work, how many for each reason.
        lanes: pending intents for each lane.
        calls: model calls if each intent needs one.
        input_tokens: estimated at four bytes a token, from every prompt.
        max_output_tokens: the sum of the prompts' limits.
    """

    job: str
    model: str
    repository: str
    branch: str
    base: str
    intents: int
    endings: dict[str, int]
    reasons: dict[str, int]
    lanes: dict[str, int]
    calls: int
    input_tokens: int
    max_output_tokens: int

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the plan as lines for people."""
        rows = [("intents", str(self.intents), "")]
        rows += [(f"  {ending}", str(count), "") for ending, count in self.endings.items()]
        rows += [(f"    {reason}", str(count), "") for reason, count in self.reasons.items()]
        lanes = [f"{lane}: {count}" for lane, count in self.lanes.items()]
        return [
            f"{self.job} with {self.model} on {self.repository}, branch {self.branch} at {self.base[:12]}",
            *columns(rows, right=(1,)),
            f"lanes: {some(lanes, most=12)}",
            f"calls: {self.calls:,}, about {self.input_tokens:,} tokens in ({BYTES_A_TOKEN} bytes a token), "
            f"at most {self.max_output_tokens:,} out",
            "dry run: no model was called and nothing was written",
        ]


def run_plan(ready: Prepared) -> Plan:
    """Return what a prepared run would do; every prompt is made, no model is called."""
    from lanes.router import Router

    pending = [intent for intent in ready.intents if intent.ending is Ending.PENDING]
    if pending:
        ready.job.ready()
    prompts = [ready.job.prompt(intent, ready.tree) for intent in pending]
    router = Router(ready.lanes)
    lanes = Counter("+".join(router.lanes(intent.scope)) for intent in pending)
    reasons = Counter(intent.reason for intent in ready.intents if intent.ending is not Ending.PENDING)
    return Plan(
        job=ready.job.name,
        model=ready.order.model,
        repository=str(ready.source.path),
        branch=ready.source.branch,
        base=ready.source.commit,
        intents=len(ready.intents),
        endings={str(ending): count for ending, count in Counter(i.ending for i in ready.intents).most_common()},
        reasons=dict(reasons.most_common()),
        lanes=dict(lanes.most_common()),
        calls=len(pending),
        input_tokens=sum(_bytes(prompt) for prompt in prompts) // BYTES_A_TOKEN,
        max_output_tokens=sum(prompt.max_output_tokens for prompt in prompts),
    )


def prompt_lines(ready: Prepared, path: str) -> list[str]:
    """Return the prompt about a path as lines.

    Raises:
        NoSuchIntent: no intent is about it, or it would ask nothing.
    """
    intent = _about(ready.intents, path)
    if intent.ending is not Ending.PENDING:
        raise NoSuchIntent(f"{path} would not be asked about: {intent.reason}", hint="See the reasons: --dry-run.")
    ready.job.ready()
    prompt = ready.job.prompt(intent, ready.tree)
    lines = []
    for message in prompt.messages:
        lines += [f"--- {message.role}", message.text]
    return [*lines, f"--- at most {prompt.max_output_tokens} tokens out, digest {prompt.digest}"]


def _about(intents: list[Intent], path: str) -> Intent:
    raw = os.fsencode(path)
    for intent in intents:
        if path == intent.id or any(raw == scope or path == scope.text for scope in intent.scope):
            return intent
    near = difflib.get_close_matches(path, [scope.text for intent in intents for scope in intent.scope], n=3)
    meant = f" Near to it: {', '.join(near)}." if near else ""
    raise NoSuchIntent(f"no intent is about {path}", hint=f"Paths are relative to the repository's root.{meant}")


def _bytes(prompt: Prompt) -> int:
    return sum(len(message.text.encode()) for message in prompt.messages)
