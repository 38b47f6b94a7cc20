"""The edit job: a model edits files as a prompt asks; paths or rows of a file say which."""

from __future__ import annotations

from fleet.jobs.edit.job import EditFiles

JOB = EditFiles

__all__ = ["JOB"]
