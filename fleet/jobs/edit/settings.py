"""What the edit job can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Format = Literal["whole", "blocks", "diff"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The edit job's settings; each is a flag and a key of the job file."""

    paths: tuple[str, ...] = field(
        default=(), metadata={"help": "An intent for each file that matches, in gitignore syntax; repeatable."}
    )
    exclude: tuple[str, ...] = field(
        default=(), metadata={"help": "No files that match, in gitignore syntax; repeatable."}
    )
    contains: str = field(
        default="",
        metadata={"help": "Only files whose text holds this, a regular expression.", "metavar": "REGEX"},
    )
    intents: str = field(
        default="",
        metadata={
            "help": "A JSONL file instead of --paths: a row an intent, with `id`, `path` or `paths`, and any fields "
            "that the prompt shows; also `asked`, `scope`, `checks` (commands for the gate), `after`, `retires` and "
            "`priority`.",
            "metavar": "FILE",
            "file": True,
        },
    )
    prompt: str = field(
        default="",
        metadata={
            "help": "What the model is asked, with {path}, {text} and fields of the row in it; a line `---` ends what "
            "it is told first.",
        },
    )
    prompt_file: str = field(
        default="", metadata={"help": "A file with the prompt, instead of --prompt.", "metavar": "FILE", "file": True}
    )
    format: Format = field(
        default="whole",
        metadata={
            "help": "How the model answers: the whole file in a fenced block, search/replace blocks, or a unified diff."
        },
    )
    least_left: float = field(
        default=0.5,
        metadata={
            "help": "The share of a file's lines that a whole new file must have, where more than 20 would be gone: "
            "with fewer it looks like a part of the file. 0: any.",
            "metavar": "SHARE",
            "min": 0,
            "max": 1,
        },
    )
    blanks: Literal["keep", "free"] = field(
        default="keep",
        metadata={
            "help": "Whether the tabs, and blanks at the ends of lines, that a whole new file has only lost are put "
            "back (keep), or gone is gone (free). A change of nothing else is always left as it is."
        },
    )
    scope: tuple[str, ...] = field(
        default=(),
        metadata={"help": "Files that each change may touch beside its own, in gitignore syntax; repeatable."},
    )
    verify: str = field(
        default="",
        metadata={
            "help": "A command that each agent runs in the sandbox on its own fork with its change, {path}, {paths}, "
            "{python} and fields of the row filled in; no shell. Checks in force that look at what it touched run with "
            "it. What they print when they fail goes into the next attempt (--attempts).",
            "metavar": "COMMAND",
        },
    )
    verify_s: float = field(default=60.0, metadata={"help": "Seconds that the command may take.", "min": 1})
    max_bytes: int = field(
        default=200_000, metadata={"help": "Files larger than this are skipped, answers refused.", "min": 1}
    )
    max_output_tokens: int = field(
        default=0,
        metadata={"help": "The most tokens of an answer.", "min": 0, "shown": "by the size of the files, or 4000"},
    )
