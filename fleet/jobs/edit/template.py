"""Text with ``{fields}`` to fill in: the prompt, and commands."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qodebase.errors import QodebaseError
from qodebase.ports import Message

_PART = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")
_LINE = "---"


class BadTemplate(QodebaseError):
    """A prompt or a command that cannot be filled in."""


@dataclass(frozen=True, slots=True)
class Template:
    """Text with fields; ``{{`` is a brace, and braces around anything but a name stand for themselves.

    Attributes:
        text: unfilled.
        source: where it stands, for errors.
    """

    text: str
    source: str

    @property
    def fields(self) -> frozenset[str]:
        """Return the names of its fields."""
        return frozenset(found[1] for found in _PART.finditer(self.text) if found[1])

    def filled(self, values: Mapping[str, Any]) -> str:
        """Return the text with its fields filled in; a field's own text is left as it is.

        Raises:
            BadTemplate: a field that has no value; the message names it, and what there is.
        """
        for name in sorted(self.fields - values.keys()):
            raise BadTemplate(
                f"{self.source} names the field {{{name}}}, which there is not",
                hint=f"There are: {', '.join(sorted(values))}. Write {{{{{name}}}}} for the braces themselves.",
            )
        return _PART.sub(lambda found: _shown(values[found[1]]) if found[1] else found[0][0], self.text)

    def words(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the text as the words of a command; a field stays within its word, but ``{paths}`` alone is many.

        Raises:
            BadTemplate: a field that has no value, or quotes that do not end.
        """
        try:
            words = shlex.split(self.text)
        except ValueError as error:
            raise BadTemplate(f"{self.source} is no command: {error}", hint="Close its quotes.") from None
        found: list[str] = []
        for word in words:
            many = values.get("paths") if word == "{paths}" else None
            found += many if isinstance(many, tuple) else [Template(word, self.source).filled(values)]
        if not found:
            raise BadTemplate(f"{self.source} is an empty command", hint="Give a program and its arguments.")
        return tuple(found)

    def messages(self, values: Mapping[str, Any], behind: str) -> tuple[Message, ...]:
        """Return a prompt: what stands above a line ``---`` as the system's message, the rest as the question.

        Args:
            behind: text that the question ends with.
        """
        first, asked = (Template(part, self.source).filled(values).strip() for part in self._parts())
        question = Message(role="user", text=f"{asked}\n\n{behind}")
        return (Message(role="system", text=first), question) if first else (question,)

    def first_line(self, values: Mapping[str, Any]) -> str:
        """Return the first line of the question that says something, filled in."""
        asked = Template(self._parts()[1], self.source).filled(values)
        return next((line.strip() for line in asked.splitlines() if line.strip(" #-")), "")

    def _parts(self) -> tuple[str, str]:
        lines = self.text.splitlines(keepends=True)
        at = next((number for number, line in enumerate(lines) if line.rstrip() == _LINE), -1)
        return "".join(lines[: max(at, 0)]), "".join(lines[at + 1 :])


def read_prompt(text: str, file: str) -> Template:
    """Return the prompt of the settings: a text, or a file's.

    Raises:
        BadTemplate: neither or both, a file that cannot be read, or one that shows no ``{text}``.
    """
    if bool(text) == bool(file):
        said = "both `prompt` and `prompt_file`" if text else "what is to be done? there is no prompt"
        raise BadTemplate(said, hint="Give one: --prompt 'In {path}, ...: {text}' or --prompt-file FILE.")
    source = f"the prompt {file}" if file else "the prompt"
    if file:
        try:
            text = Path(file).read_text(encoding="utf-8")
        except OSError as error:
            raise BadTemplate(
                f"{source} cannot be read: {error.strerror}", hint="A run goes on only with the prompt it began with."
            ) from None
        except UnicodeDecodeError:
            raise BadTemplate(f"{source} is no UTF-8 text", hint="Save it as UTF-8.") from None
    found = Template(text, source)
    if "text" not in found.fields:
        raise BadTemplate(f"{source} does not show the file", hint="Write {text} where the file's text is to stand.")
    return found


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
