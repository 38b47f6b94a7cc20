"""The run folder: settings, frozen intents, journal, attempts, repository, and the lock that guards them."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

import msgspec

from qodebase.caps import Caps
from qodebase.check_selection import Selection
from qodebase.codec import JSON, BadData, json_decoder
from qodebase.errors import QodebaseError
from qodebase.intent import Intent, check_order
from qodebase.paths import CommitId
from qodebase.privacy import PrivacySettings
from qodebase.private_files import make_private, private
from qodebase.rule_settings import RuleSettings

VERSION = 1
_SETTINGS = "settings.json"
_AS_FROZEN = "It is as it was frozen or no run: take the file back from a copy, or from an archive of the run."


class NoRun(QodebaseError):
    """A name that stands for no run."""


class RunExists(QodebaseError):
    """A folder that is taken."""


class NoPlace(QodebaseError):
    """A folder that cannot be made."""


class RunHeld(QodebaseError):
    """Another process works on the run."""


class NotText(QodebaseError):
    """Bytes that are no UTF-8 where text is kept."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was started with; frozen.

    Attributes:
        run: the run's id, unique on this machine and in the repository's notes.
        job, job_file, job_digest, job_settings: which job, where it was loaded from (empty: installed), and how.
        repository, branch, base: the user's repository, its branch, and the commit that the run began on.
        land_on, push_to: the branch that everything is pushed to (empty: nothing is), and of which repository, as a
            path or an address.
        model, models: the model's name, and the tables of the job file.
        replay_model, escalate_model: who redoes collided changes, and who is asked where the others failed; empty: the
            same model.
        caps, stop_if: what the run may use at most, and the conditions that pause it.
        workers, attempts: how many agents, and how many attempts an intent has.
        ramp: how many agents start in a second; None: as the model's kind wants it.
        cache: how the answer cache is used.
        author, sign: who the commits say wrote them (empty: the agent), and whether git signs them.
        train_max: the largest train of a lane.
        prefetch: make the next train while one is at the gate.
        contract: checks of landed intents, and the job's standing ones, stay in force.
        read_sets: compare what checks read with what landed meanwhile, before main moves, and with other trees on
            which they were green.
        check_selection: by what a check in force is known to look at nothing that a change touches.
        claims: an intent waits while an agent works on another that claims some of the same symbols or paths.
        replays: whether a model redoes a change ``beside`` its lane, or ``inside`` it, so that the lane waits.
        stall_after_s: seconds of wall time in which nothing ends that are a stall; 0: never.
        sample, seed: how many intents to admit at first (None: all), and the seed that chose them.
        lanes: lane names with their patterns, as routed when the run began.
        rules: which replay rules are tried where.
        unsafe_checks: whether checks run without a sandbox.
        privacy: what may leave the machine, and which texts are kept.
        intents, intents_digest: how many intents were frozen, and the SHA-256 of their file.
        created: seconds since the epoch.
        product: qodebase's version.
    """

    v: int = VERSION
    run: str
    job: str
    job_file: str = ""
    job_digest: str
    job_settings: dict[str, Any]
    repository: str
    branch: str
    base: CommitId
    land_on: str = ""
    push_to: str = ""
    model: str
    models: dict[str, dict[str, Any]] = {}
    replay_model: str = ""
    escalate_model: str = ""
    caps: Caps = Caps()
    stop_if: tuple[str, ...] = ()
    workers: int
    attempts: int = 1
    ramp: int | None = None
    cache: str = "use"
    author: str = ""
    sign: bool = False
    train_max: int = 64
    prefetch: bool = True
    contract: bool = True
    read_sets: bool = True
    check_selection: Selection = "names"
    claims: bool = False
    replays: Literal["beside", "inside"] = "beside"
    stall_after_s: float = 600.0
    sample: int | None = None
    seed: int = 0
    lanes: dict[str, tuple[str, ...]] = {}
    rules: RuleSettings = RuleSettings()
    unsafe_checks: bool = False
    privacy: PrivacySettings = PrivacySettings()
    intents: int = 0
    intents_digest: str = ""
    created: float
    product: str


class RunFolder:
    """Paths and frozen files of a run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal = root / "journal.jsonl"
        self.attempts = root / "attempts"
        self.repository = root / "repo.git"
        self._intents = root / "intents.jsonl"

    @classmethod
    def create(cls, root: Path) -> RunFolder:
        """Make a new folder of mode 0700.

        Raises:
            RunExists: there is something already.
            NoPlace: the system does not let it be made.
        """
        try:
            if root.exists() and (not root.is_dir() or any(root.iterdir())):
                again = f"qodebase resume {shlex.quote(str(root))}"
                raise RunExists(
                    f"{root} exists already", hint=f"Go on with it: `{again}`; or give another folder with --out."
                )
            make_private(root)
        except OSError as error:
            raise NoPlace(
                f"{root} cannot be made: {error.strerror}", hint="Give a folder that you may write with --out."
            ) from None
        return cls(root)

    @classmethod
    def find(cls, run: str, *, home: Path) -> RunFolder:
        """Find a run by path, by name below ``home``, or ``last`` for the newest there.

        Raises:
            NoRun: there is none; the message lists what there is.
        """
        if run == "last":
            runs = sorted(_runs(home), key=_created)
            if not runs:
                raise NoRun(f"no run in {home}", hint="Start one: `qodebase run document --repo PATH`.")
            return runs[-1]
        for root in (Path(run), home / run):
            if (root / _SETTINGS).is_file():
                return cls(root)
        known = ", ".join(folder.root.name for folder in _runs(home)) or "none"
        raise NoRun(f"no run {run!r}", hint=f"A run is a path, a name in {home}, or `last`. Runs there: {known}.")

    @property
    def frozen(self) -> Path:
        """Return the file of the frozen intents."""
        return self._intents

    @property
    def name(self) -> str:
        """Return the folder's name."""
        return self.root.resolve().name

    @property
    def called(self) -> str:
        """Return the folder as a word of a shell's command line."""
        return shlex.quote(str(self.root))

    def settings(self) -> Settings:
        """Read the settings.

        Raises:
            BadData: they cannot be read, or another version wrote them.
        """
        path = self.root / _SETTINGS
        try:
            settings: Settings = json_decoder(Settings).decode(path.read_bytes())
        except msgspec.DecodeError as error:
            raise BadData(f"{path}: {error}", hint=_AS_FROZEN) from None
        if settings.v != VERSION:
            raise BadData(
                f"{path} has version {settings.v}, and this qodebase reads {VERSION}",
                hint=f"Use the qodebase that wrote it: {settings.product}.",
            )
        return settings

    def freeze(self, settings: Settings, intents: Iterable[Intent]) -> int:
        """Write intents, then settings, durably: a folder without settings is no run. Return how many intents.

        Raises:
            BadIntents: ids that stand twice, or an order that nothing can keep; nothing is written.
            NotText: a setting or an intent holds bytes that are no UTF-8; nothing is written.
        """
        intents = list(intents)
        check_order(intents)
        try:
            lines = b"".join(JSON.encode(intent) + b"\n" for intent in intents)
            settings = msgspec.structs.replace(
                settings, intents=len(intents), intents_digest=hashlib.sha256(lines).hexdigest()
            )
            frozen = msgspec.json.format(JSON.encode(settings), indent=2) + b"\n"
        except UnicodeEncodeError as error:
            raise NotText(
                f"{error.object!r} is no UTF-8, and what a run is told must be", hint="Give it another name, or a link."
            ) from None
        with open(self._intents, "wb", opener=private) as out:
            out.write(lines)
            out.flush()
            os.fsync(out.fileno())
        partial = self.root / (_SETTINGS + ".part")
        with open(partial, "wb", opener=private) as out:
            out.write(frozen)
            out.flush()
            os.fsync(out.fileno())
        partial.rename(self.root / _SETTINGS)
        _sync_folder(self.root)
        return len(intents)

    def intents(self) -> Iterator[Intent]:
        """Yield the frozen intents in order.

        Raises:
            BadData: a line is no intent; the message names file, line and field.
        """
        decoder = json_decoder(Intent)
        with self.open_frozen() as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise BadData(f"{self._intents} line {number}: {error}", hint=_AS_FROZEN) from None

    def open_frozen(self) -> BinaryIO:
        """Open the file of the frozen intents.

        Raises:
            BadData: it is not there.
        """
        try:
            return self._intents.open("rb")
        except FileNotFoundError:
            raise BadData(
                f"{self._intents} is missing", hint="Without its frozen intents a run cannot be read: take them back."
            ) from None

    def intents_as_frozen(self) -> bool:
        """Return whether the file of intents is still what was frozen."""
        return hashlib.sha256(self._intents.read_bytes()).hexdigest() == self.settings().intents_digest

    def holder(self) -> str:
        """Return who works on the run now, or the empty text."""
        path = self.root / "lock"
        with contextlib.suppress(FileNotFoundError), path.open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return lock.read().decode(errors="replace").strip() or "another process"
        return ""

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run; the lock of a dead holder is free.

        Raises:
            RunHeld: a live process holds it.
        """
        with open(self.root / "lock", "a+b", opener=private) as lock:
            while not _taken(lock):
                # Somebody who only asks for the holder takes the lock for an instant too.
                if holder := self.holder():
                    raise RunHeld(
                        f"{self.root} is being worked on by {holder}",
                        hint="Wait for it (`qodebase status`), or stop that process first.",
                    )
            lock.truncate(0)
            lock.write(f"{this_process()}\n".encode())
            lock.flush()
            yield


def plain_name(text: str) -> str:
    """Return a text as a part of a ref's name that git takes, at most 100 characters long.

    >>> plain_name("my run..2\\n")
    'my-run.2'
    """
    return re.sub(r"\.{2,}", ".", re.sub(r"[^\w.+-]+", "-", text))[:100].strip("-.") or "run"


def this_process() -> str:
    """Return what `RunFolder.holder` says while this process works on a run."""
    return f"process {os.getpid()} on {os.uname().nodename}"


def _taken(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _runs(home: Path) -> list[RunFolder]:
    if not home.is_dir():
        return []
    return [RunFolder(path.parent) for path in sorted(home.glob(f"*/{_SETTINGS}"))]


def _created(folder: RunFolder) -> float:
    """Return when a run was made, seconds since the epoch; by the file system's word where it cannot be read."""
    try:
        return folder.settings().created
    except (BadData, OSError):
        return (folder.root / _SETTINGS).stat().st_mtime


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest_of(value: Any) -> str:
    """Return the SHA-256 of plain data in canonical JSON, 64 hex digits."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
