"""What an audit says: checks, each with what it counted and what it found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from qodebase.paths import CommitId, RepoPath, path_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was found, and which intents, commits and path it concerns."""

    message: str
    intents: tuple[str, ...] = ()
    commits: tuple[CommitId, ...] = ()
    path: RepoPath | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "message": self.message,
            "intents": list(self.intents),
            "commits": list(self.commits),
            "path": None if self.path is None else path_text(self.path),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of an audit.

    Attributes:
        name: which.
        counted: in words, how much was looked at.
        findings: what is wrong.
        noted: what a reader should know and is not wrong.
    """

    name: str
    counted: str
    findings: tuple[Finding, ...] = ()
    noted: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.findings

    def as_dict(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {
            "name": self.name,
            "ok": self.ok,
            "counted": self.counted,
            "findings": [finding.as_dict() for finding in self.findings],
            "noted": [finding.as_dict() for finding in self.noted],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The outcome of an audit: every check, and what could not be checked."""

    subject: str
    checks: tuple[Check, ...]
    not_checked: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Return whether every check is satisfied."""
        return all(check.ok for check in self.checks)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what is wrong, over all checks."""
        return tuple(finding for check in self.checks for finding in check.findings)

    def check(self, name: str) -> Check:
        """Return a check by its name; raises `KeyError`."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def as_dict(self) -> dict[str, Any]:
        """Return the audit as plain data."""
        return {
            "subject": self.subject,
            "ok": self.ok,
            "checks": [check.as_dict() for check in self.checks],
            "not_checked": list(self.not_checked),
            "seconds": self.seconds,
        }


@dataclass(slots=True)
class Notebook:
    """Collects what one check finds while it goes through a run; what is alike is kept as one finding."""

    name: str
    _wrong: dict[_Key, _Concerns] = field(default_factory=dict)
    _noted: dict[_Key, _Concerns] = field(default_factory=dict)

    def wrong(
        self,
        message: str,
        *,
        intents: Iterable[str] = (),
        commits: Iterable[CommitId] = (),
        path: RepoPath | None = None,
    ) -> None:
        """Write down something that is wrong."""
        _add(self._wrong, (message, path), intents, commits)

    def note(
        self,
        message: str,
        *,
        intents: Iterable[str] = (),
        commits: Iterable[CommitId] = (),
        path: RepoPath | None = None,
    ) -> None:
        """Write down something that a reader should know."""
        _add(self._noted, (message, path), intents, commits)

    def check(self, counted: str) -> Check:
        """Return the check."""
        return Check(name=self.name, counted=counted, findings=_findings(self._wrong), noted=_findings(self._noted))


_Key = tuple[str, RepoPath | None]
_Concerns = tuple[dict[str, None], dict[CommitId, None]]


def _add(found: dict[_Key, _Concerns], key: _Key, intents: Iterable[str], commits: Iterable[CommitId]) -> None:
    concerned = found.setdefault(key, ({}, {}))
    concerned[0].update(dict.fromkeys(intents))
    concerned[1].update(dict.fromkeys(commits))


def _findings(found: dict[_Key, _Concerns]) -> tuple[Finding, ...]:
    return tuple(
        Finding(message=message, intents=tuple(intents), commits=tuple(commits), path=path)
        for (message, path), (intents, commits) in found.items()
    )
