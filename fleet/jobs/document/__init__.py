"""The document job, found by its name.

Its parts import tree-sitter and more only when they are used, so that asking for the job's flags stays cheap.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name == "JOB":
        from fleet.jobs.document.job import Document

        return Document
    raise AttributeError(name)
