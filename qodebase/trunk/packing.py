"""Where the objects of a trunk's steps are gathered: in this process, or beside it once batches are large."""

from __future__ import annotations

from pathlib import Path

from qodebase.children import processors
from qodebase.trunk.beside import Beside, Gone
from qodebase.trunk.gathering import Gathered, Gathering
from qodebase.trunk.grown import Grown
from qodebase.trunk.kept import Roots
from qodebase.trunk.wholes import Wholes

_MANY = 200
"""Landings of a batch; starting a process takes as long as gathering so many."""


class Packing:
    """What `begin` gives to each step of a trunk.

    Args:
        objects: the repository's folder of objects.
        wholes: its packs, as this process has them open.
        level: zlib's.
    """

    def __init__(self, objects: Path, wholes: Wholes, *, level: int) -> None:
        self._objects = objects
        self._wholes = wholes
        self._level = level
        self._roots = Roots()
        self._grown = Grown()
        self._beside: Beside | None = None
        self._alone = processors() < 2

    def begin(self, landings: int) -> Gathering:
        """Return what gathers the objects of a step of so many landings.

        Raises:
            Gone: as each method of it may; the step must be taken again.
        """
        if self._beside is None and landings >= _MANY and not self._alone:
            self._start()
        if self._beside is not None:
            return self._beside.begin()
        return Gathered(level=self._level, wholes=self._wholes, roots=self._roots, grown=self._grown)

    def _start(self) -> None:
        try:
            self._beside = Beside(self._objects, level=self._level)
        except OSError:
            # No room for another process.
            self._alone = True

    def stay_here(self) -> None:
        """Do without a process from now on: there was one, and it has ended."""
        self._alone = True
        self.close()

    def forget(self) -> None:
        """Look packs up again: some were removed."""
        self._wholes.close()
        if self._beside is not None:
            try:
                self._beside.forget()
            except Gone:
                self.stay_here()

    def close(self) -> None:
        """End the process, if there is one."""
        if self._beside is not None:
            self._beside.close()
            self._beside = None
