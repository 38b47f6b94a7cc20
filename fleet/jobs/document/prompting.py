"""The document job's prompt: the one beside this file, or a file of the user's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.ports import Message

OWN = Path(__file__).parent / "prompt.md"
FIELDS = ("path", "language", "used_by", "replay", "text")
_FIELD = re.compile("{(" + "|".join(FIELDS) + ")}")
_LINE = "---"


class BadPrompt(QodebaseError):
    """A file that cannot be the prompt."""


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt's text: what a model is told first, and what it is asked about a file, with ``{fields}`` to fill in."""

    system: str
    asked: str

    @property
    def text(self) -> str:
        """Return all of it, fields unfilled."""
        return f"{self.system}\n{self.asked}"

    def messages(self, **fields: str) -> tuple[Message, ...]:
        """Return the messages with every field filled in; a field's own text is left as it is."""
        asked = Message(role="user", text=_FIELD.sub(lambda field: fields[field[1]], self.asked))
        return (Message(role="system", text=self.system), asked) if self.system else (asked,)


def read_template(file: str) -> Template:
    """Read a prompt, the job's own where ``file`` is empty: the system message, a line ``---``, the question.

    Without such a line all of it is the question.

    Raises:
        BadPrompt: it cannot be read, is no UTF-8, or shows no ``{text}``.
    """
    path = Path(file) if file else OWN
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadPrompt(
            f"the prompt {path} cannot be read: {error.strerror}",
            hint="A run goes on only with the prompt it began with.",
        ) from None
    except UnicodeDecodeError:
        raise BadPrompt(f"the prompt {path} is no UTF-8 text", hint="Save it as UTF-8.") from None
    lines = text.splitlines(keepends=True)
    at = next((number for number, line in enumerate(lines) if line.rstrip() == _LINE), -1)
    template = Template("".join(lines[: max(at, 0)]), "".join(lines[at + 1 :]))
    if "{text}" not in template.asked:
        raise BadPrompt(
            f"the prompt {path} does not show the file",
            hint=f"Write {{text}} where it is to stand; there are {', '.join('{' + name + '}' for name in FIELDS)}.",
        )
    return template
