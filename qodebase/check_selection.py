"""By what it is told that a check need not run."""

from __future__ import annotations

from typing import Literal

Selection = Literal["names", "files", "all"]
"""The names that it mentions, the files that it read, or nothing: then all checks in force run."""
