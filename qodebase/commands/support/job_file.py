"""Job files: a TOML file with the options of `qodebase run` and the settings of its job.

The options stand at the top level, the job's settings in a table that is named like the job, models in
``[models.NAME]``, lanes in ``[lanes]``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from qodebase.codec import BadData
from qodebase.commands.support.models import with_folders
from qodebase.commands.support.options import CommonOptions
from qodebase.commands.support.setting_fields import Setting, check_keys, settings_of, with_whole_paths
from qodebase.rule_settings import RuleSettings

_JOB = Setting(name="job", type=str, default="", metadata={})
_JOB_FILE = Setting(name="job_file", type=Path, default=None, metadata={})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile:
    """A job file whose own keys are checked.

    Attributes:
        job, job_file: which job, one of the two.
        common: fields of `CommonOptions`, as their types.
        tables: what else stands there, the job's settings among it; `settings_for` checks them.
    """

    path: Path
    job: str
    job_file: str
    common: dict[str, Any]
    tables: dict[str, Any]

    def settings_for(self, kind: type[Any]) -> dict[str, Any]:
        """Return the job's settings that the file gives, as plain values.

        Args:
            kind: the job's class.

        Raises:
            BadData: a wrong key, type or value; the message names file, table and field.
        """
        name = str(getattr(kind, "name", "") or self.job)
        known = [setting.name for setting in _common_settings()]
        settings = {setting.name: setting for setting in settings_of(kind.Settings)}
        for key in self.tables:
            if key in settings and key != name:
                raise BadData(f"{self.path}: `{key}` is a setting of the job", hint=f"Put it into the table [{name}].")
        check_keys(self.tables, ["job", "job_file", *known, name], source=str(self.path))
        source = f"{self.path}: [{name}]"
        table = self.tables.get(name, {})
        if not isinstance(table, dict):
            raise BadData(f"{self.path}: `{name}` must be a table, [{name}], not {table!r}")
        check_keys(table, list(settings), source=source)
        for key, value in table.items():
            settings[key].check(value, source=source)
        return with_whole_paths(kind.Settings, table, self.path.parent)


def read_job_file(path: Path) -> JobFile:
    """Read a job file; what is relative in it is relative to its folder: repository, job, files of settings, programs.

    Raises:
        BadData: it is not there, no TOML, or has a wrong type or value; the message names file and field.
    """
    values = _parsed(path)
    common: dict[str, Any] = {}
    if isinstance(given := values.get("rules"), dict):
        check_keys(given, [field.name for field in fields(RuleSettings)], source=f"{path}: [rules]")
    for setting in _common_settings():
        if setting.name in values:
            common[setting.name] = setting.check(values.pop(setting.name), source=str(path))
    if "models" in common:
        from fleet.models.registry import model_tables

        model_tables(common["models"], source=str(path))
    named = [common[key] for key in ("model", "replay_model", "escalate_model") if key in common]
    if named or "models" in common:
        common["models"] = with_folders(common.get("models", {}), named, path.parent)
    if "repo" in common:
        common["repo"] = path.parent / common["repo"].expanduser()
    job = _JOB.check(values.pop("job", ""), source=str(path))
    job_file = _JOB_FILE.check(values.pop("job_file"), source=str(path)) if "job_file" in values else None
    if job and job_file:
        raise BadData(f"{path}: `job` and `job_file` exclude each other")
    return JobFile(
        path=path,
        job=job,
        job_file=str(path.parent / job_file.expanduser()) if job_file else "",
        common=common,
        tables=values,
    )


def _common_settings() -> list[Setting]:
    return [setting for setting in settings_of(CommonOptions) if setting.metadata.get("in_file", True)]


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode())
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error.strerror}", hint="Give the path of a job file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadData(f"{path} is no TOML: {error}") from None
