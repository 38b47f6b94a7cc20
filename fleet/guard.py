"""The guard between the code and models: what no prompt may show, and what no answer may bring.

It holds for models that are not local as far as prompts go, and for every language model as far as answers go.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from fleet.licences import is_listed, licences_of
from fleet.secrets import Found, Scanner, load_rules, placeholder, redacted
from qodebase.change import SUBMODULE, SYMLINK
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.patterns import matcher
from qodebase.ports import Answer, Failure, Message, Model, NoAnswer, Prompt, Tree
from qodebase.privacy import PrivacySettings

_MOST_NAMED = 5
_NAME = re.compile(r"""[^\s"'`:;,()<>\[\]{}]+""")
"""What may be a path in what a check printed."""


class BadSecretsUse(QodebaseError):
    """A treatment of secrets that there is not."""


class SecretsUse(StrEnum):
    """What becomes of a prompt that holds a secret."""

    REFUSE = "refuse"
    REDACT = "redact"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """A prompt that may be sent; ``replaced`` says which secrets were taken out of it, never their values."""

    prompt: Prompt
    replaced: tuple[str, ...] = ()
    placeholders: frozenset[str] = field(default=frozenset())


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """A prompt that must not be sent, and what it would show: kinds and places, never a value."""

    failure: Failure
    shown: tuple[str, ...]

    @property
    def why(self) -> str:
        """Return what it would show in one line."""
        return _named(self.shown)


class Guard:
    """Look at prompts before they leave and at answers before they are used.

    Args:
        secrets: what becomes of a prompt with a secret.
        patterns: the user's regular expressions by name.
        never_send: paths, in gitignore syntax, whose text no prompt may show.
        licences: SPDX identifiers of files whose text no prompt may show.

    Raises:
        BadSecretPattern, BadPattern: a pattern that cannot be used.
    """

    def __init__(
        self,
        *,
        secrets: SecretsUse = SecretsUse.REFUSE,
        patterns: Mapping[str, Sequence[str]] | None = None,
        never_send: Sequence[str] = (),
        licences: Sequence[str] = (),
    ) -> None:
        self._secrets = secrets
        self._find = lru_cache(maxsize=128)(Scanner(patterns).find)
        self._never_sent = matcher(never_send) if never_send else None
        self._licences = tuple(licences)

    def prepare(self) -> None:
        """Import what scanning needs; takes half a second the first time."""
        if self._secrets is not SecretsUse.ALLOW:
            load_rules()

    def clear(self, prompt: Prompt, tree: Tree | None, paths: Iterable[RepoPath]) -> Cleared | Withheld:
        """Return the prompt as it may be sent to a model that is not local, or why it must not be.

        Args:
            tree: the code that the prompt was made from; None: not known.
            paths: whose text it may show, beside those that it names itself.
        """
        paths = list(dict.fromkeys((*prompt.shows, *paths)))
        forbidden = [why for path in paths if (why := self.forbidden(path, tree))]
        if forbidden:
            return Withheld(failure=Failure.NEVER_SENT, shown=tuple(forbidden))
        prompt = self._without_printed(prompt, tree)
        if self._secrets is SecretsUse.ALLOW:
            return Cleared(prompt=prompt)
        found = [self._find(message.text) for message in prompt.messages]
        if not any(found):
            return Cleared(prompt=prompt)
        texts = [message.text for message in prompt.messages]
        places = (_place(text, one, tree, paths) for text, ones in zip(texts, found, strict=True) for one in ones)
        shown = tuple(dict.fromkeys(places))
        if self._secrets is SecretsUse.REFUSE:
            return Withheld(failure=Failure.SECRET, shown=shown)
        messages = tuple(
            Message(role=message.role, text=redacted(message.text, ones))
            for message, ones in zip(prompt.messages, found, strict=True)
        )
        return Cleared(
            prompt=prompt.saying(messages),
            replaced=shown,
            placeholders=frozenset(placeholder(one.kind) for ones in found for one in ones),
        )

    def screen(self, cleared: Cleared, answer: Answer) -> Answer | NoAnswer:
        """Return the answer, or why it must not be used: it brings a new secret, or stands for one that was taken out.

        What it used is counted all the same; its text is kept nowhere.
        """
        back = sorted(mark for mark in cleared.placeholders if mark in answer.text)
        if back:
            return _unused(answer, f"the answer holds {', '.join(back)}, which stands for what was not sent")
        if self._secrets is SecretsUse.ALLOW:
            return answer
        new = [
            f"{one.kind} in line {_line(answer.text, one.start)} of the answer"
            for one in self._find(answer.text)
            if not any(answer.text[one.start : one.end] in message.text for message in cleared.prompt.messages)
        ]
        return _unused(answer, _named(new)) if new else answer

    def _without_printed(self, prompt: Prompt, tree: Tree | None) -> Prompt:
        """Leave out what checks printed where it names a file that is never sent: a traceback shows its lines."""
        messages = prompt.messages
        for text in prompt.printed if self._never_sent is not None or self._licences else ():
            if why := self._named_in(text, tree):
                note = f"[left out: it names {why}]"
                messages = tuple(Message(role=one.role, text=one.text.replace(text, note)) for one in messages)
        return prompt if messages is prompt.messages else prompt.saying(messages)

    def _named_in(self, text: str, tree: Tree | None) -> str:
        """Return why a text must not be shown for a file that it names, wherever that was laid out."""
        for name in dict.fromkeys(_NAME.findall(text)):
            parts = name.split("/")
            for path in (RepoPath(os.fsencode("/".join(parts[at:]))) for at in range(len(parts))):
                known = bool(path) and (tree is None or tree.entry(path) is not None)
                if known and (why := self.forbidden(path, tree)):
                    return why
        return ""

    def forbidden(self, path: RepoPath, tree: Tree | None) -> str:
        """Return why the text of a path may not be shown, or the empty text."""
        if self._never_sent is not None and self._never_sent(path):
            return f"{path.text} (a path that is never sent)"
        if self._licences:
            for where in (path, RepoPath(path + b".license")):
                for licence in licences_of(_text(where, tree)):
                    if is_listed(licence, self._licences):
                        return f"{path.text} (licence {licence})"
        return ""


def is_screened(model: Model) -> bool:
    """Return whether answers are looked at; a program that stands for no language model says only what it read."""
    return model.simulated or not model.deterministic


def guard_of(privacy: PrivacySettings) -> Guard:
    """Return the guard that a run's settings ask for.

    Raises:
        BadSecretsUse, BadSecretPattern, BadPattern: settings that cannot be used.
    """
    try:
        secrets = SecretsUse(privacy.secrets)
    except ValueError:
        raise BadSecretsUse(
            f"secrets cannot be treated by {privacy.secrets!r}", hint=f"There are: {', '.join(SecretsUse)}."
        ) from None
    return Guard(secrets=secrets, patterns=privacy.patterns, never_send=privacy.never_send, licences=privacy.licences)


def skip_forbidden(intents: Iterable[Intent], guard: Guard, tree: Tree) -> list[Intent]:
    """Return intents, those ended as skipped that are about a file whose text may not be shown."""
    return [_skipped(intent, guard, tree) if intent.ending is Ending.PENDING else intent for intent in intents]


def _skipped(intent: Intent, guard: Guard, tree: Tree) -> Intent:
    why = next((why for path in intent.scope if (why := guard.forbidden(path, tree))), "")
    return intent.ended(Ending.SKIPPED, f"{Failure.NEVER_SENT}: {why}") if why else intent


def _unused(answer: Answer, why: str) -> NoAnswer:
    return NoAnswer(
        failure=Failure.SECRET,
        why=why,
        model=answer.model,
        input_tokens=answer.input_tokens,
        cached_tokens=answer.cached_tokens,
        output_tokens=answer.output_tokens,
        cost_usd=answer.cost_usd,
    )


def _place(text: str, one: Found, tree: Tree | None, paths: Sequence[RepoPath]) -> str:
    """Return kind and place of a secret: the first file that holds it, else the prompt."""
    value = text[one.start : one.end].partition("\n")[0]
    for path in paths:
        before, found, _ = _text(path, tree).partition(value.encode("utf-8", "surrogateescape"))
        if found:
            return f"{one.kind} in {path.text} line {before.count(10) + 1}"
    return f"{one.kind} in line {_line(text, one.start)} of the prompt"


def _text(path: RepoPath, tree: Tree | None) -> bytes:
    entry = None if tree is None else tree.entry(path)
    return b"" if tree is None or entry is None or entry.mode in (SYMLINK, SUBMODULE) else tree.read(path)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _named(shown: Sequence[str]) -> str:
    more = [f"{len(shown) - _MOST_NAMED} more"] if len(shown) > _MOST_NAMED else []
    return ", ".join([*shown[:_MOST_NAMED], *more])
