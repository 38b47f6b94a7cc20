"""A branch of another repository, and the notes there, as git reaches them: looked at, fetched, pushed with a lease.

A push moves branch and notes together or not at all, and only where both are what they were when they were last looked
at (``git push --atomic --force-with-lease``, git-push(1)).
"""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import unquote, urlsplit

from qodebase.errors import QodebaseError
from qodebase.git_environment import users_environment
from qodebase.trunk.checkouts import refuse_checked_out
from qodebase.trunk.configuration import wishes_of
from qodebase.trunk.files import Files
from qodebase.trunk.refs import NOTES_REF, read_ref
from qodebase.trunk.repository import find_folders

_BRANCH_HERE = "refs/qodebase/there/branch"
_NOTES_HERE = "refs/qodebase/there/notes"
_LOOK_S = 120.0
_MOVE_S = 3600.0
"""How long git may take to look, and to fetch or push: a first push may bring a whole history."""
_WAIT_S = 60.0
_PAUSE_S = 0.1
_MOST_TOLD = 2000
_WAYS = re.compile(r"(credential|http|url|ssh)\.|core\.(sshcommand|gitproxy|askpass)\n")
_NO_MORE: Mapping[str, str] = {}


class NotReached(QodebaseError):
    """A repository that git cannot talk to."""

    exit_code = 3


class StillPushing(QodebaseError):
    """A push that a process which is gone has begun, and that is not over."""

    exit_code = 3


class BadBranchName(QodebaseError):
    """A name that no branch can have."""


class Pair(NamedTuple):
    """The commits that a branch and the notes stand on; None: there is no such ref."""

    branch: str | None
    notes: str | None


class Remote:
    """One branch of a repository that is reached by path or address.

    Args:
        git: the git folder whose objects are pushed, and into which is fetched; it must be known to git already.
        place: a path, or an address that git can push to.
        branch: with or without ``refs/heads/``.
        reached_as: a repository whose own configuration says how addresses are reached (credentials, proxies, other
            names); None: that of ``git``.
    """

    def __init__(self, git: Path, place: str, branch: str, *, reached_as: Path | None = None) -> None:
        self._borrowed = {} if reached_as is None or _path_of(place) else _ways(reached_as)
        self.place = place
        self.branch = branch if branch.startswith("refs/") else f"refs/heads/{branch}"
        self._git = git
        self._lock = git / "qodebase" / "push.lock"

    @property
    def name(self) -> str:
        """Return branch and repository in words."""
        return f"{self.branch.removeprefix('refs/heads/')} of {self.place}"

    def check_name(self) -> None:
        """Refuse a name that git would not take.

        Raises:
            BadBranchName: it is none.
        """
        name = self.branch.removeprefix("refs/heads/")
        # The second refuses what would stand for something else on a command line: HEAD, or an option.
        if any(_run(["git", "check-ref-format", *words]).code for words in ((self.branch,), ("--branch", name))):
            raise BadBranchName(
                f"{name!r} cannot name a branch",
                hint="`git help check-ref-format` says what can.",
            )

    def check_free(self) -> None:
        """Refuse a branch that somebody has checked out; of a repository on another machine git itself says so.

        Raises:
            CheckedOut: with the working tree's path.
            NotARepository, UnsupportedRepository: the path holds none that can be landed on.
        """
        path = _path_of(self.place)
        if path is not None:
            folder = find_folders(path).git
            refuse_checked_out(folder, self.branch, bare=wishes_of(folder).bare)

    def look(self) -> Pair:
        """Return where branch and notes are.

        Raises:
            NotReached: with git's own words.
        """
        said = self._ask("ls-remote", "--", self.place, self.branch, NOTES_REF)
        found = {ref: id for id, _, ref in (line.partition("\t") for line in said.splitlines())}
        return Pair(found.get(self.branch), found.get(NOTES_REF))

    def fetch(self, there: Pair) -> Pair:
        """Bring what `look` saw here and return where branch and notes were at that moment.

        Raises:
            NotReached: with git's own words.
        """
        wanted = {self.branch: (_BRANCH_HERE, there.branch), NOTES_REF: (_NOTES_HERE, there.notes)}
        refs = [f"+{ref}:{here}" for ref, (here, id) in wanted.items() if id is not None]
        if refs:
            flags = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance")
            self._ask("-c", "core.fsync=all", "fetch", *flags, "--", self.place, *refs, limit_s=_MOVE_S)
        return Pair(*(None if id is None else read_ref(self._git, here) for here, id in wanted.values()))

    def push(self, new: Pair, old: Pair) -> str:
        """Move branch and notes from ``old`` to ``new``; return nothing where they moved, else what git said."""
        refs = [(self.branch, new.branch, old.branch), (NOTES_REF, new.notes, old.notes)]
        leases = [f"--force-with-lease={ref}:{before or ''}" for ref, _, before in refs]
        moves = [f"{after}:{ref}" for ref, after, _ in refs if after is not None]
        flags = ["--porcelain", "--atomic", "--no-follow-tags", "--recurse-submodules=no"]
        self._lock.parent.mkdir(exist_ok=True)
        with self._lock.open("a") as lock:
            # A shell that waits for git inherits this lock, so that a push which outlives us is known to be under way.
            # Not git itself: what it leaves in the background (a keeper of passwords, a gc there) would hold it on.
            fcntl.flock(lock, fcntl.LOCK_SH)
            command = ["git", f"--git-dir={self._git}", "push", *flags, *leases, "--", self.place, *moves]
            waiting = ["sh", "-c", '"$@" </dev/null; exit $?', "sh", *command]
            done = _run(waiting, self._borrowed, limit_s=_MOVE_S, lock=lock)
        if not done.code:
            return ""
        refused = [line.split("\t")[-1] for line in done.out.splitlines() if line.startswith("!")]
        return "\n".join([*dict.fromkeys(refused), done.error.strip()])[-_MOST_TOLD:].strip() or "git push failed"

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep the other runs of this machine from pushing to the same path meanwhile; others may push all the same."""
        path = _path_of(self.place)
        with ExitStack() as held:
            with suppress(OSError):
                folder = None if path is None else find_folders(path).own
                if folder is not None:
                    folder.mkdir(exist_ok=True)
                    lock = held.enter_context((folder / "turn.lock").open("a"))
                    fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def wait_for_others(self, files: Files) -> None:
        """Wait until no push of a process that is gone is under way.

        Raises:
            StillPushing: one is, after a minute.
        """
        self._lock.parent.mkdir(exist_ok=True)
        with self._lock.open("a") as lock:
            for _ in range(int(_WAIT_S / _PAUSE_S)):
                with suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                files.pause(_PAUSE_S)
        raise StillPushing(
            f"a git of an earlier process still pushes to {self.name}", hint="Wait until it is done, then resume."
        )

    def unpushed(self, tip: str, there: str) -> list[tuple[str, ...]]:
        """Return the commits from ``tip`` down along first parents that ``there`` does not reach, with parents."""
        said = self._ask("rev-list", "--first-parent", "--parents", tip, "--not", there)
        return [tuple(line.split()) for line in said.splitlines()]

    def _ask(self, *words: str, limit_s: float = _LOOK_S) -> str:
        done = _run(["git", f"--git-dir={self._git}", *words], self._borrowed, limit_s=limit_s)
        if done.code:
            raise NotReached(
                f"git cannot reach {self.name}: {done.error.strip()[-_MOST_TOLD:]}",
                hint=f"See whether `git ls-remote {self.place}` works without asking anything, then resume.",
            )
        return done.out


class _Done(NamedTuple):
    code: int
    out: str
    error: str


def _run(
    command: list[str], more: Mapping[str, str] = _NO_MORE, *, limit_s: float = _LOOK_S, lock: IO[str] | None = None
) -> _Done:
    """Run git in a session of its own, so that a Ctrl-C does not end a push, and nobody can be asked for a password.

    What is started gets a lock as its standard input.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL if lock is None else lock,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**users_environment(), **more, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        start_new_session=True,
    )
    try:
        out, error = process.communicate(timeout=limit_s)
    except BaseException as failed:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(failed, subprocess.TimeoutExpired):
            return _Done(-1, "", f"it did not answer within {limit_s:.0f} seconds")
        raise
    return _Done(process.returncode, out, error)


def _ways(repository: Path) -> dict[str, str]:
    """Return as an environment what a repository's own configuration says of how addresses are reached.

    It is handed on and not copied, for it may hold what must not be kept.
    """
    listed = _run(["git", "-C", str(repository), "config", "--local", "--list", "--null"]).out.split("\0")
    pairs = [entry.split("\n", 1) for entry in listed if _WAYS.match(entry) and "\n" in entry]
    first = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    found = {"GIT_CONFIG_COUNT": str(first + len(pairs))}
    for number, (key, value) in enumerate(pairs, first):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found


def _path_of(place: str) -> Path | None:
    """Return the folder that a path or a file address names; None for an address on another machine."""
    if place.startswith("file://"):
        return Path(unquote(urlsplit(place).path))
    return Path(place) if Path(place).is_dir() else None
