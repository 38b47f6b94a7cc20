"""What every job can be told on the command line and in a job file.

Each field is a flag, and each but ``json`` a key of the job file. A field's metadata holds its help and, where they
apply, ``flags`` (instead of ``--name``), ``min``, and ``in_file`` False.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from qodebase.check_selection import Selection
from qodebase.privacy import PrivacySettings
from qodebase.rule_settings import RuleSettings

CacheUse = Literal["use", "readonly", "off", "refresh"]
SecretsUse = Literal["refuse", "redact", "allow"]
Switch = Literal["on", "off"]
Replays = Literal["beside", "inside"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """The options of `qodebase run` that do not belong to one job.

    Attributes:
        repo: the user's repository; None where none was given.
        branch: empty means the branch that the repository is on.
        land_on, push_to: a branch that all landings are pushed to, and its repository; empty: none, and that of repo.
        out: the run's folder; None means a new one in ``runs``.
        sample: how many intents to admit; None means all.
        show_prompt: a path of the repository; empty means that no prompt is shown.
        author: ``NAME <MAIL>``; empty means the agent.
        lanes: lane names with their path patterns; empty means chosen by the job, or by looking at the tree.
        priority: priorities with path patterns, instead of those of the job.
        secret_patterns: regular expressions of more kinds of secrets, by name.
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
    land_on: str = field(
        default="",
        metadata={
            "help": "Push every batch that lands, with its notes, to this branch, which others may push to as well and "
            "nobody may have checked out. Where it exists the run starts from it.",
            "metavar": "BRANCH",
            "shown": "nothing is pushed",
        },
    )
    push_to: str = field(
        default="",
        metadata={
            "help": "The repository of --land-on: a path, an address that git can push to, or a remote's name.",
            "metavar": "REPOSITORY",
            "shown": "that of --repo",
        },
    )
    model: str = field(
        default="",
        metadata={
            "help": "Which model: `outline` needs no key; ADAPTER, ADAPTER:ARGUMENT or a [models.NAME] table.",
            "metavar": "NAME",
            "shown": "the job's own; outline where it has none",
        },
    )
    replay_model: str = field(
        default="",
        metadata={
            "help": "Who redoes a change that rules could not, on the newest main.",
            "metavar": "NAME",
            "shown": "the same model",
        },
    )
    escalate_model: str = field(
        default="",
        metadata={
            "help": "Who is asked where another model failed: a second attempt (--attempts is at least 2 then) after "
            "an unusable answer or a change that was sent back, and a replay after one that did not do.",
            "metavar": "NAME",
            "shown": "nobody",
        },
    )
    price: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "What tokens cost, in USD per million; of --model where none is named; repeatable.",
            "metavar": "[MODEL=]IN:OUT[:CACHED]",
            "in_file": False,
        },
    )
    cost_cap: float | None = field(
        default=None,
        metadata={
            "help": "The most USD that all sittings of the run may cost. At a cap no model is asked any more, what is "
            "made lands, and the rest stays pending (exit code 3).",
            "metavar": "USD",
            "min": 0,
        },
    )
    token_cap: int | None = field(
        default=None, metadata={"help": "The most tokens, in and out, that the run may use.", "min": 0}
    )
    time_cap: str = field(
        default="",
        metadata={"help": "How long the run may be worked on: 90s, 30m, 1h30m.", "metavar": "DURATION"},
    )
    stop_if: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Pause the run (exit code 3) when more than so much of the last intents of a sitting ended so: "
            "no_answer>20%/200; repeatable.",
            "metavar": "ENDING>PERCENT%/LAST",
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
    contract: Switch = field(
        default="on",
        metadata={
            "help": "Keep the job's standing checks, and those of landed intents, in force: a change that breaks one "
            "is sent back, unless its intent retires it.",
        },
    )
    check_selection: Selection = field(
        default="names",
        metadata={
            "help": "Which checks in force judge a change: those that mention the names that it gives another meaning "
            "(where that is known, else by files), those that read a file that it touches, or all of them.",
        },
    )
    prefetch: Switch = field(default="on", metadata={"help": "Merge and redo the next train while one is at the gate."})
    claims: Switch = field(
        default="off",
        metadata={
            "help": "An intent claims the symbols that it names, or else its paths, from its start to its end: others "
            "that claim the same wait, and those that do not go first. Fewer collisions, and fewer calls for them.",
        },
    )
    replays: Replays = field(
        default="beside",
        metadata={"help": "A model redoes a change beside its lane, or inside it, so that the lane waits."},
    )
    attempts: int = field(default=1, metadata={"help": "Attempts for each intent.", "min": 1})
    stall_after: str = field(
        default="10m",
        metadata={
            "help": "Warn when nothing ended, landed or was answered for so long; stop after twice that. 0s: never.",
            "metavar": "DURATION",
        },
    )
    ramp: int | None = field(
        default=None,
        metadata={
            "help": "How many agents start in a second.",
            "min": 1,
            "shown": "2000; all at once where no provider is asked",
        },
    )
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
    priority: dict[str, tuple[str, ...]] = field(
        default_factory=dict,
        metadata={
            "help": "How urgent the paths of a pattern are: 0 to 255, lower first, 0 interrupts trains; repeatable.",
            "metavar": "N=PATTERN",
            "shown": "as the job says, usually 100",
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
    secrets: SecretsUse = field(
        default="refuse",
        metadata={
            "help": "A prompt with a secret for a model that is not local: refuse the intent, or redact the secret. "
            "Answers that bring a new one are refused too.",
        },
    )
    secret_patterns: dict[str, tuple[str, ...]] = field(
        default_factory=dict,
        metadata={
            "flags": ("--secret-pattern",),
            "help": "One more kind of secret, as a regular expression; repeatable.",
            "metavar": "NAME=REGEX",
        },
    )
    never_send: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Files whose text goes to no model that is not local, in gitignore syntax; repeatable.",
            "metavar": "PATTERN",
        },
    )
    never_send_licences: tuple[str, ...] = field(
        default=(),
        metadata={
            "flags": ("--never-send-licence",),
            "help": "The same for files under a licence, by its SPDX tag or its notice, `GPL-*` say; repeatable.",
            "metavar": "SPDX",
        },
    )
    keep_prompts: Switch = field(
        default="on",
        metadata={
            "help": "Keep prompts and answers for `log`; off, only their digests: an answer that was paid for right "
            "before a kill is then asked for again, unless the answer cache has it.",
        },
    )
    unsafe_checks: bool = field(
        default=False,
        metadata={
            "help": "Run the job's checks without a sandbox, as you: what a model wrote can then read and write "
            "whatever you can. Needed where the machine cannot hold them.",
        },
    )
    json: bool = field(
        default=False,
        metadata={"help": "Print JSON for scripts, and nothing else, to stdout.", "in_file": False},
    )
    models: dict[str, dict[str, Any]] = field(default_factory=dict, metadata={"flags": ()})
    source: str = field(default="the command line", metadata={"flags": (), "in_file": False})

    @property
    def privacy(self) -> PrivacySettings:
        """Return what may leave the machine, and what is kept."""
        return PrivacySettings(
            secrets=self.secrets,
            patterns=self.secret_patterns,
            never_send=self.never_send,
            licences=self.never_send_licences,
            keep_prompts=self.keep_prompts == "on",
        )

    @property
    def all_rules(self) -> RuleSettings:
        """Return the job file's rules with the flags' added."""
        off = (*self.rules.off, *(name for name in self.rule_off if name not in self.rules.off))
        return RuleSettings(off=off, bind=self.rules.bind)
