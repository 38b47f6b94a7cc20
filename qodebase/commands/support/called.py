"""What a notebook's call gives, checked like the same keys of a job file: a frozen run keeps what it was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from qodebase.codec import BadData
from qodebase.commands.support.options import CommonOptions
from qodebase.commands.support.setting_fields import Setting, check_keys, settings_of

SOURCE = "the call"

_OTHERWISE: dict[str, Any] = {
    "limit": int,
    "contract": bool,
    "prefetch": bool,
    "claims": bool,
    "keep_prompts": bool,
    "rules_off": tuple[str, ...],
    "rules_bind": dict[str, tuple[str, ...]],
    "priorities": dict[str, tuple[str, ...]],
}
"""Arguments that are no key of a job file, or take something else than it."""

_ONE_OR_SEVERAL = ("price", "stop_if")
_OWN = ("repo", "out", "model")


def check_call(given: Mapping[str, Any]) -> None:
    """Check the arguments of a call; None is what was not given.

    A text in the place of several is refused: as a sequence of letters it would name other files than those meant.

    Raises:
        BadData: one is of another type, or beyond its limits; the message names it and what is allowed.
    """
    for setting in _arguments():
        value = given.get(setting.name)
        if isinstance(value, Mapping):
            value = {str(name): one for name, one in value.items()}
        if value is not None and not (setting.name in _ONE_OR_SEVERAL and isinstance(value, str)):
            setting.check(value, source=SOURCE)


def check_settings(settings: Mapping[str, Any], job: str, job_file: str, arguments: Mapping[str, Any]) -> None:
    """Check a job's own settings.

    Raises:
        BadData: a name that is neither a setting nor an argument of the call, a value of another type or beyond its
            limits; the message names it, and what is near to it or allowed.
        QodebaseError: there is no such job.
    """
    from fleet.jobs.registry import load_job

    if job and job_file:
        raise BadData(f"{SOURCE}: `job` and `job_file` exclude each other")
    known = {setting.name: setting for setting in settings_of(load_job(job, file=job_file).Settings)}
    check_keys(settings, [*known, *arguments], source=SOURCE)
    for name, value in settings.items():
        known[name].check(value, source=SOURCE)


def _arguments() -> Iterator[Setting]:
    for setting in settings_of(CommonOptions):
        if setting.name not in (*_OWN, *_OTHERWISE):
            yield setting
    for name, kind in _OTHERWISE.items():
        yield Setting(name=name, type=kind, default=None, metadata={"min": 1} if name == "limit" else {})
