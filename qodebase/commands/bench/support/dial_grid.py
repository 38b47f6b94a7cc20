"""The dial's grid: every setting in a process of its own, results kept, so that a stopped grid goes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

import msgspec

from qodebase.commands.bench.support.dial_setting import Measured, Setting
from qodebase.errors import QodebaseError

_RESULT = "result.json"
_SETTING = "setting.json"


class SettingFailed(QodebaseError):
    """A setting whose process failed."""


def measure(
    settings: Sequence[Setting], folder: Path, *, jobs: int, say: Callable[[str], None] = lambda text: None
) -> list[Measured]:
    """Measure settings, ``jobs`` at a time; what ``folder`` holds already is not measured again.

    Raises:
        SettingFailed: one failed; those that are done are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [setting for setting in settings if _known(folder, setting) is None]
    if kept := len(settings) - len(missing):
        say(f"{kept} of {len(settings)} settings are in {folder} already")
    processes: dict[str, subprocess.Popen[bytes]] = {}
    with ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="dial") as threads:
        waiting: dict[Future[Measured], Setting] = {
            threads.submit(_measure, setting, folder, processes): setting for setting in missing
        }
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                say(f"{done} of {len(missing)}: {waiting[future]}: {_told(future.result())}")
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            for process in list(processes.values()):
                process.terminate()
            raise
    return [found for setting in settings if (found := _known(folder, setting)) is not None]


def _measure(setting: Setting, folder: Path, processes: dict[str, subprocess.Popen[bytes]]) -> Measured:
    own = folder / setting.key
    own.mkdir(exist_ok=True)
    (own / _SETTING).write_bytes(msgspec.json.encode(setting))
    words = [sys.executable, "-m", "qodebase.commands.bench.support.dial_side", str(own)]
    processes[setting.key] = process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, said = process.communicate()
    del processes[setting.key]
    if process.returncode:
        lines = said.decode(errors="replace").strip().splitlines()
        raise SettingFailed(
            f"{setting}: {lines[-1] if lines else f'its process ended with {process.returncode}'}",
            hint=f"What it did until then is in {own}; the same command goes on with the settings that are missing.",
        )
    (own / f"{_RESULT}.part").write_bytes(out)
    (own / f"{_RESULT}.part").rename(own / _RESULT)
    return msgspec.json.decode(out, type=Measured)


def _known(folder: Path, setting: Setting) -> Measured | None:
    path = folder / setting.key / _RESULT
    return msgspec.json.decode(path.read_bytes(), type=Measured) if path.is_file() else None


def setting_of(own: Path) -> Setting:
    """Return the setting that a process was started for."""
    return msgspec.json.decode((own / _SETTING).read_bytes(), type=Setting)


def _told(found: Measured) -> str:
    row = found.row
    return (
        f"{row['minutes']:.1f} minutes, {row['redone_by_model']} redone by a model, {row['lost_in_landing']} lost in "
        f"landing, {row['passing']} of {row['required']} pass, {found.real_seconds:.0f} real seconds"
    )
