"""The tasks job, found by its name; its parts are imported when they are used."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "JOB":
        from fleet.jobs.tasks.job import Tasks

        return Tasks
    raise AttributeError(name)
