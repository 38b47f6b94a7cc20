"""The branches job: work that exists already, as branches or patch files, lands through the lanes."""

from __future__ import annotations

from fleet.jobs.branches.job import Branches

JOB = Branches

__all__ = ["JOB"]
