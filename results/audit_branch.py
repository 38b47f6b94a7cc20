"""Audit the branch of another repository that a run pushed to: it holds every landing, and the notes there each record.

What is there now is fetched into a folder of its own that is removed afterwards; neither repository is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qodebase.events import Composed
from qodebase.paths import CommitId
from qodebase.scratch import ScratchFolder
from qodebase.trunk.objects import BLOB, hash_object
from qodebase.trunk.remote import NotReached, Remote
from qodebase.trunk.repository import find_folders
from results.cat_file import asked_of_git
from results.evidence import Evidence
from results.findings import Check, Notebook


def check_branch(evidence: Evidence) -> tuple[list[Check], list[str]]:
    """Return the check of the branch that the run landed on, where it did, and what could not be checked."""
    settings = evidence.settings
    if not settings.land_on:
        return [], []
    try:
        with _fetched(evidence) as (commits, notes, name):
            return [_compared(evidence, commits, notes, name)], []
    except NotReached as error:
        return [], [f"the branch that it landed on: {error.message}"]


def _compared(evidence: Evidence, commits: frozenset[str], notes: dict[str, str], name: str) -> Check:
    book = Notebook("branch")
    landed = _landed(evidence)
    for commit, intent in landed.items():
        intents = (intent,) if intent else ()
        if commit not in commits:
            book.wrong("landed, and the branch does not hold it: it was rewritten", intents=intents, commits=(commit,))
            continue
        ours = {hash_object(BLOB, note).hex() for note in evidence.notes.get(commit, ())}
        if commit not in notes:
            book.wrong("on the branch, and its note is not there", intents=intents, commits=(commit,))
        elif notes[commit] not in ours:
            book.note("somebody changed its note there", intents=intents, commits=(commit,))
    held = sum(commit in commits for commit in landed)
    return book.check(f"{name}: {held} of {len(landed)} commits of the run are on it")


def _landed(evidence: Evidence) -> dict[CommitId, str]:
    landed = {one.commit: intent for intent, landings in evidence.landed.items() for one in landings}
    return landed | {event.commit: "" for event in evidence.events if isinstance(event, Composed)}


@contextmanager
def _fetched(evidence: Evidence) -> Iterator[tuple[frozenset[str], dict[str, str], str]]:
    """Fetch what is there and give its commits above the base, the blob of each commit's note, and the branch's name.

    Raises:
        NotReached: git cannot get it.
    """
    settings = evidence.settings
    with ScratchFolder("audit") as git:
        _git(git, "init", "--quiet", "--bare", "--template=")
        objects = find_folders(evidence.folder.repository).objects
        (git / "objects" / "info").mkdir(exist_ok=True)
        (git / "objects" / "info" / "alternates").write_text(f"{objects.resolve()}\n")
        remote = Remote(git, settings.push_to, settings.land_on, reached_as=Path(settings.repository))
        there = remote.fetch(remote.look())
        commits = _git(git, "rev-list", there.branch, "--not", settings.base).split() if there.branch else []
        yield frozenset(commits), _notes(git, there.notes) if there.notes else {}, remote.name


def _notes(git: Path, tip: str) -> dict[str, str]:
    listed = _git(git, "ls-tree", "-r", "-z", tip).split("\0")[:-1]
    return {path.replace("/", ""): head.split()[2] for head, _, path in (line.partition("\t") for line in listed)}


def _git(git: Path, *words: str) -> str:
    done = asked_of_git(git, *words)
    if done.returncode:
        raise NotReached(f"git {words[0]} failed: {done.stderr.strip()}")
    return done.stdout
