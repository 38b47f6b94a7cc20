"""The revert job: landings taken back, each by a change that is its inverse."""

from __future__ import annotations

from fleet.jobs.revert.job import Revert

JOB = Revert

__all__ = ["JOB"]
