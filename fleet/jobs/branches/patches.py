"""Patch files as pieces of work: mails of ``git format-patch`` and plain diffs, each made a commit on its own base."""

from __future__ import annotations

import email.policy
import email.utils
import re
from collections.abc import Iterator
from datetime import datetime
from email.message import EmailMessage
from pathlib import Path
from typing import NamedTuple, cast

from fleet.given.authors import author_line
from fleet.given.scratch import GitFailed, Scratch
from fleet.jobs.branches.work import Work, without_ours
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Given
from qodebase.paths import CommitId

KINDS = (".patch", ".diff", ".mbox")

_MAIL = re.compile(rb"(?m)^From [0-9a-f]{40} .*\n")
_DIFF = re.compile(rb"(?m)^(?:diff --git |--- (?:a/|/dev/null|\"))")
_TAG = re.compile(r"^(?:\s*\[[^\]]*\])+\s*")
_INDEX = re.compile(rb"(?m)^index ([0-9a-f]{7,40})\.\.[0-9a-f]{7,40}")
_OLD = re.compile(rb"(?m)^--- (?:a/([^\t\n]+)|\"a/([^\n]+)\")")
_BASE = re.compile(rb"(?m)^base-commit: ([0-9a-f]{40})\s*$")
_OLDER = 2000
"""So many commits that touch a patch's paths are looked at for the one that it was made on."""


class NoPatches(QodebaseError):
    """A folder without patches."""


class Patch(NamedTuple):
    """What a patch file says: its text, who made it (an author's line; empty: it does not say), its diff."""

    asked: str
    author: str
    diff: bytes


def patch_files(folder: Path) -> list[Path]:
    """Return the patch files of a folder by name.

    Raises:
        NoPatches: it is no folder, or there are none.
    """
    if not folder.is_dir():
        raise NoPatches(f"{folder} is no folder", hint="Give the folder that holds the patch files: --patches DIR.")
    found = sorted(path for path in folder.iterdir() if path.suffix in KINDS and path.is_file())
    if not found:
        raise NoPatches(
            f"{folder} holds no patch file", hint=f"They are called {', '.join(f'*{kind}' for kind in KINDS)}."
        )
    return found


def patch_work(scratch: Scratch, file: Path, base: CommitId) -> Work:
    """Return a patch file as work against the commit that it was made on, or why there is nothing to land in it."""
    id = f"patch:{file.name}"
    patch = read_patch(file.read_bytes())
    asked = patch.asked or f"Land {file.name}"
    if not patch.diff.strip():
        return Work(id=id, name=file.name, asked=asked, ending=Ending.SKIPPED, why="empty: there is no diff in it")
    refused = ""
    for commit in _bases(scratch, patch.diff, base):
        try:
            tree = _applied(scratch, patch.diff, commit)
        except GitFailed as error:
            refused = refused or error.message
            continue
        tip = _commit(scratch, tree, commit, patch, asked)
        return Work(id=id, name=file.name, asked=asked, given=Given(base=commit, tip=tip, author=patch.author))
    why = f"it does not apply: {'; '.join(refused.splitlines())}"
    return Work(id=id, name=file.name, asked=asked, ending=Ending.SENT_BACK, why=why)


def read_patch(content: bytes) -> Patch:
    """Read a patch file: one mail or several, or a diff with any text before it."""
    mails = [part for part in _MAIL.split(content) if part.strip()] if _MAIL.match(content) else []
    if not mails and not re.match(rb"(?i)(?:from|subject|date|message-id): ", content):
        at = _DIFF.search(content)
        text = content[: at.start() if at else len(content)]
        return Patch(_text(text), "", content[at.start() :] if at else b"")
    texts, author, diffs = [], "", []
    for mail in mails or [content]:
        message = email.message_from_bytes(mail, policy=email.policy.default)
        body = _body(message)
        at = _DIFF.search(body)
        told = re.split(rb"(?m)^---\s*$", body[: at.start() if at else len(body)])[0]
        subject = _TAG.sub("", " ".join(str(message.get("subject", "")).split()))
        texts.append("\n\n".join(part for part in (subject, _text(told)) if part))
        author = _author(message) or author
        diffs.append(body[at.start() :] if at else b"")
    return Patch("\n\n".join(filter(None, texts)), author, b"\n".join(map(_without_signature, diffs)))


def _text(content: bytes) -> str:
    return without_ours(re.split(r"(?m)^---\s*$", content.decode(errors="replace"))[0])


def _body(message: EmailMessage) -> bytes:
    """Return a mail's text as it was before its transfer encoding, in the bytes that the files have."""
    parts = [part for part in message.walk() if not part.is_multipart()]
    return b"\n".join(cast(bytes, part.get_payload(decode=True) or b"") for part in parts)


def _without_signature(diff: bytes) -> bytes:
    """Return a diff without what ``git format-patch`` writes below it: ``-- `` and git's version."""
    return re.sub(rb"(?s)\n-- \n[0-9][^\n]*\n.*\Z", b"\n", diff)


def _author(message: EmailMessage) -> str:
    name, mail = email.utils.parseaddr(str(message.get("from", "")))
    if not name and not mail:
        return ""
    try:
        when: datetime | None = email.utils.parsedate_to_datetime(str(message.get("date", "")))
    except ValueError:
        when = None
    if when is None:
        return author_line(name, mail, "0", "+0000")
    return author_line(name, mail, str(int(when.timestamp())), when.strftime("%z") or "+0000")


def _bases(scratch: Scratch, diff: bytes, base: CommitId) -> Iterator[CommitId]:
    """Yield the commits that a patch may have been made on: as it says itself, as its blobs say, else the newest."""
    told = _BASE.search(diff)
    if told and scratch.has(told[1].decode()):
        yield CommitId(told[1].decode())
    wanted = _wanted(diff)
    if wanted:
        limits = ("--first-parent", f"--max-count={_OLDER}")
        paths = [f":(literal,top){path.decode(errors='surrogateescape')}" for path in wanted]
        commits = scratch.ask("rev-list", *limits, base, "--", *paths).decode().split()
        for commit in (base, *commits):
            if scratch.holds(commit, wanted):
                yield CommitId(commit)
                break
    yield base


def _wanted(diff: bytes) -> dict[bytes, str]:
    """Return the contents that a diff was made on: the beginning of each one's id, by path."""
    found = {}
    for part in re.split(rb"(?m)^(?=diff --git )", diff):
        index, old = _INDEX.search(part), _OLD.search(part)
        if index and old and old[1] and set(index[1]) != {ord("0")}:
            found[old[1]] = index[1].decode()
    return found


def _applied(scratch: Scratch, diff: bytes, commit: CommitId) -> str:
    """Return the tree that a commit is with a diff on it.

    Raises:
        GitFailed: it does not apply.
    """
    own_index = {"GIT_INDEX_FILE": str(scratch.new_index())}
    scratch.ask("read-tree", commit, environment=own_index)
    scratch.ask("apply", "--cached", "--whitespace=nowarn", "-", stdin=diff, environment=own_index)
    return scratch.ask("write-tree", environment=own_index).decode().strip()


def _commit(scratch: Scratch, tree: str, base: CommitId, patch: Patch, asked: str) -> CommitId:
    author = patch.author or author_line("unknown", "", "0", "+0000")
    name, _, rest = author.partition(" <")
    mail, _, date = rest.partition("> ")
    person = {"NAME": name, "EMAIL": mail or "unknown", "DATE": f"@{date}"}
    environment = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    made = scratch.ask("commit-tree", tree, "-p", base, stdin=asked.encode(), environment=environment)
    return CommitId(made.decode().strip())
