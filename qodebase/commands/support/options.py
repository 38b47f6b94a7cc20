"""What every job can be told on the command line and in a job file.

Each field is a flag, and each but ``json`` a key of the job file. A field's metadata holds its help and, where they
apply, ``flags`` (instead of ``--name``), ``min``, and ``in_file`` False.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from qodebase.rule_settings import RuleSettings

CacheUse = Literal["use", "readonly", "off", "refresh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """The options of `qodebase run` that do not belong to one job.

    Attributes:
        repo: the user's repository; None where none was given.
        branch: empty means the branch that the repository is on.
        out: the run's folder; None means a new one in ``runs``.
        sample: how many intents to admit; None means all.
        show_prompt: a path of the repository; empty means that no prompt is shown.
        author: ``NAME <MAIL>``; empty means the agent.
        lanes: lane names with their path patterns; empty means chosen by the job, or by looking at the tree.
        rule_off: replay rules that are not tried, beside those that ``rules`` names.
        rules: the job file's ``[rules]`` table: ``off = ["imports"]``, and below ``[rules.bind]`` a rule's paths.
        models: the job file's ``[models.NAME]`` tables, keys and types checked.
        source: the job file, or ``the command line``, for errors about settings.
    """

    repo: Path | None = field(
        default=None, metadata={"help": "The git repository to work on; it is only read.", "metavar": "PATH"}
    )
    branch: str = field(
        default="",
        metadata={"help": "The branch to start from.", "metavar": "NAME", "shown": "the one that is checked out"},
    )
    model: str = field(
        default="outline",
        metadata={
            "help": "Which model: `outline` needs no key; ADAPTER, ADAPTER:ARGUMENT or a [models.NAME] table.",
            "metavar": "NAME",
        },
    )
    workers: int = field(default=1000, metadata={"flags": ("--workers", "-w"), "help": "How many agents.", "min": 1})
    out: Path | None = field(
        default=None,
        metadata={
            "flags": ("--out", "-o"),
            "help": "The run's folder, which must not exist.",
            "metavar": "PATH",
            "shown": "a new one in ./runs",
        },
    )
    dry_run: bool = field(
        default=False,
        metadata={"help": "Call no model, write nothing: show intents, lanes, expected calls and tokens."},
    )
    sample: int | None = field(
        default=None, metadata={"help": "Freeze all intents, admit so many, spread over languages and lanes.", "min": 1}
    )
    seed: int = field(default=0, metadata={"help": "Which sample."})
    show_prompt: str = field(
        default="", metadata={"help": "Print the prompt about one file of the repository, and stop.", "metavar": "PATH"}
    )
    author: str = field(
        default="",
        metadata={"help": "Who the commits say wrote them.", "metavar": "'NAME <MAIL>'", "shown": "the agent"},
    )
    sign: bool = field(default=False, metadata={"help": "Let git sign the commits."})
    train_max: int = field(default=64, metadata={"help": "The most changes that a lane tests together.", "min": 1})
    tries: int = field(default=1, metadata={"help": "Attempts for each intent.", "min": 1})
    cache: CacheUse = field(default="use", metadata={"help": "What to do with the answer cache."})
    lanes: dict[str, tuple[str, ...]] = field(
        default_factory=dict,
        metadata={
            "flags": ("--lane",),
            "help": "A lane and what it takes, in gitignore syntax; repeatable.",
            "metavar": "NAME=PATTERN",
            "shown": "chosen by looking at the tree",
        },
    )
    rule_off: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "A replay rule that is not tried; repeatable. See `[rules]` in a job file.",
            "metavar": "NAME",
            "in_file": False,
        },
    )
    rules: RuleSettings = field(default_factory=RuleSettings, metadata={"flags": ()})
    json: bool = field(
        default=False,
        metadata={"help": "Print JSON for scripts, and nothing else, to stdout.", "in_file": False},
    )
    models: dict[str, dict[str, Any]] = field(default_factory=dict, metadata={"flags": ()})
    source: str = field(default="the command line", metadata={"flags": (), "in_file": False})

    @property
    def all_rules(self) -> RuleSettings:
        """Return the job file's rules with the flags' added."""
        off = (*self.rules.off, *(name for name in self.rule_off if name not in self.rules.off))
        return RuleSettings(off=off, bind=self.rules.bind)
