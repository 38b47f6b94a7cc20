"""What a check is: a command or a selection of tests, the files that belong to it, and what it may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath


class BadCheck(QodebaseError):
    """A check that nothing could run."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one check may use; whatever goes beyond is ended, and the check is red.

    Attributes:
        wall_s: seconds from its start to its end.
        cpu_s: whole seconds of processor time, for each of its processes.
        memory_bytes: of each process (address space), and of all together (memory that is their own).
        processes: how many at a time.
        output_bytes: what it may print.
        file_bytes: the size of one file.
        scratch_bytes: all files of its scratch folder together.
        open_files: descriptors of each process.
    """

    wall_s: float = 60.0
    cpu_s: int = 60
    memory_bytes: int = 2 << 30
    processes: int = 64
    output_bytes: int = 8 << 20
    file_bytes: int = 64 << 20
    scratch_bytes: int = 256 << 20
    open_files: int = 1024

    def within(self, wall_s: float) -> Limits:
        """Return the same with at most so many seconds of wall time."""
        return msgspec.structs.replace(self, wall_s=min(self.wall_s, wall_s))


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check of a job: either a command or a selection of tests for pytest; green where it exits with 0.

    The code lies in a read-only folder, which is the current one; `HOME` and `TMPDIR` name a scratch folder.

    Attributes:
        command: program and arguments; found by `PATH`, or by a path of the repository.
        tests: paths and node ids for pytest (``tests/test_a.py::test_one``), relative to the root.
        files: laid over the code while the check runs; a change cannot touch these.
        from_main: paths in gitignore syntax that are taken from main as it was before the judged changes, beside what
            defines a selection of tests: its test files, `conftest.py` and the settings of pytest.
        may_edit: paths in gitignore syntax that are taken from the changes all the same.
        environ: variables that it finds, beside `PATH`, `HOME`, `TMPDIR` and `LANG`.
        limits: what it may use.
    """

    command: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    files: dict[RepoPath, bytes] = {}
    from_main: tuple[str, ...] = ()
    may_edit: tuple[str, ...] = ()
    environ: dict[str, str] = {}
    limits: Limits = Limits()


def proved(checks: Mapping[str, Check]) -> dict[str, Check]:
    """Return a job's checks, each looked at.

    Raises:
        BadCheck: a check is both or neither of command and tests, or names a path outside of the repository.
    """
    for name, check in checks.items():
        if bool(check.command) == bool(check.tests):
            raise BadCheck(f"the check {name!r} must be either a command or tests", hint="Give one of the two.")
        paths = [*check.files, *(RepoPath(one.partition("::")[0].encode()) for one in check.tests)]
        for path in paths:
            parts = path.split(b"/")
            if any(part in (b"", b".", b"..", b".git") for part in parts) or path.count(b"\0") or path.startswith(b"-"):
                raise BadCheck(
                    f"the check {name!r} names the path {path.text}",
                    hint="Paths are relative to the repository's root, `tests/test_a.py` say.",
                )
    return dict(checks)


def concerns(read: Iterable[RepoPath] | None, path: RepoPath, *, named: bool = False) -> bool:
    """Return whether a check that read these paths may come to another verdict when one path changes.

    Args:
        read: see `qodebase.ports.Judgement`.
        path: what changed.
        named: the path came, or went away, so that a folder lists other names.
    """
    if read is None:
        return True
    known = read if isinstance(read, frozenset | set) else frozenset(read)
    above = path.rpartition(b"/")[0]
    return path in known or (named and RepoPath(above + b"/") in known)


def read_together(reads: Iterable[tuple[RepoPath, ...] | None]) -> tuple[RepoPath, ...] | None:
    """Return what checks read together; None, which means everything, where that of one is not known."""
    found: set[RepoPath] = set()
    for read in reads:
        if read is None:
            return None
        found.update(read)
    return tuple(sorted(found))
