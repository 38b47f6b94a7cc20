"""What may leave the machine, and what a run keeps: the user's choices, frozen with the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacySettings:
    """What prompts to a model that is not local may show, and which texts are kept.

    Attributes:
        secrets: refuse, redact or allow: what becomes of a prompt that holds a secret.
        patterns: more regular expressions for secrets, by the name of their kind.
        never_send: paths, in gitignore syntax, whose text leaves in no prompt.
        licences: SPDX identifiers; the text of a file under one of them leaves in no prompt.
        keep_prompts: whether the texts of prompts and answers are kept, or only their digests.
    """

    secrets: str = "refuse"
    patterns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    never_send: tuple[str, ...] = ()
    licences: tuple[str, ...] = ()
    keep_prompts: bool = True
