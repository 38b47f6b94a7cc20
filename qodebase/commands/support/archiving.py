"""Put a run into an archive."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qodebase.errors import QodebaseError
from qodebase.git_environment import git_in, unconfigured_environment
from qodebase.scratch import ScratchFolder

if TYPE_CHECKING:
    from qodebase.runs import RunFolder

_FILES = ("settings.json", "intents.jsonl", "journal.jsonl", "environment.json", "score.json")
_CHUNK = 1 << 20


class NotArchived(QodebaseError):
    """A run that cannot be put into an archive."""


class KeyInRun(QodebaseError):
    """A run's file that holds a key of this environment."""

    exit_code = 1


def archive_run(folder: RunFolder, target: Path, *, prompts: bool) -> dict[str, Any]:
    """Write a run into an archive, and return what is in it.

    Args:
        prompts: keep the texts of prompts.

    Raises:
        RunHeld: a process works on the run.
        KeyInRun: a file holds a key that stands in the environment.
        NotArchived, BadArchive: git cannot pack the repository, or the file cannot be written.
    """
    from qodebase.commands.support.archive_file import BUNDLE, FOLDER, Manifest, write_archive
    from qodebase.commands.support.blanking import without_prompts

    target = target.absolute()
    with ScratchFolder("archive") as space, folder.locked():
        settings = folder.settings()
        bundle = space / BUNDLE
        tip = git(folder.repository, "rev-parse", f"refs/heads/{settings.branch}")
        git(folder.repository, "-c", "pack.threads=1", "bundle", "create", "--quiet", str(bundle), "--all")
        segments = sorted(folder.attempts.glob("*.seg"))
        if not prompts:
            segments = without_prompts(folder, segments, space)
        files = [file for name in _FILES if (file := folder.root / name).is_file()]
        _refuse_keys(files, os.environ)
        members = {f"{FOLDER}/{file.name}": file for file in files}
        members |= {f"{FOLDER}/{folder.attempts.name}/{file.name}": file for file in segments}
        manifest = Manifest(
            run=settings.run,
            product=settings.product,
            branch=settings.branch,
            base=settings.base,
            tip=tip,
            tree=git(folder.repository, "rev-parse", f"{tip}^{{tree}}"),
            prompts=prompts,
            files={},
        )
        write_archive(target, manifest, {**members, BUNDLE: bundle})
    return {
        "file": str(target),
        "bytes": target.stat().st_size,
        "run": settings.run,
        "tip": tip,
        "tree": manifest.tree,
        "prompts": prompts,
        "files": len(members) + 1,
    }


def git(repository: Path, *words: str) -> str:
    """Run git without anybody's configuration, and return what it says.

    Raises:
        NotArchived: git's own words.
    """
    done = subprocess.run(
        [*git_in(repository), *words],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=unconfigured_environment(),
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-1000:]
        hint = f"Look at it with `git -C {shlex.quote(str(repository))} fsck`."
        raise NotArchived(f"git {words[0]} failed: {said}", hint=hint)
    return done.stdout.decode(errors="replace").strip()


def _refuse_keys(files: Iterable[Path], environ: Mapping[str, str]) -> None:
    from fleet.scrub import Scrub, keys_in

    scrub = Scrub(keys_in(environ))
    for file in files:
        with file.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                if scrub.holds_key(line):
                    raise KeyInRun(
                        f"{file.name} line {number} holds a key of the environment, so nothing was archived",
                        hint="Change that key with its provider, then archive in an environment without it.",
                    )
