"""Serialize and read commits, with trailers as git's own (`git interpret-trailers`)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence

import msgspec

from qodebase.paths import CommitId
from qodebase.trunk.batch import LandingRefused, ObjectId, Person

EXPECTS = "Qodebase-Expects"
ONTO = "Qodebase-Onto"

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_ZONE = re.compile(r"[+-][0-9]{4}")
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{40})")
_CRUD = re.compile(r"[<>\n\0]")
_TRAILER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*): ?(.*)")


class CommitFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit says; ``author`` and ``committer`` are its own lines, undecoded."""

    id: CommitId
    tree: ObjectId
    parents: tuple[CommitId, ...]
    author: bytes
    committer: bytes
    message: str

    @property
    def trailers(self) -> tuple[tuple[str, str], ...]:
        """Return the trailers of the message's last paragraph, in order."""
        return trailers_of(self.message)

    @property
    def reverts(self) -> tuple[CommitId, ...]:
        """Return the commits that the message says it reverts, in git's own words."""
        return tuple(CommitId(id) for id in _REVERTS.findall(self.message))


@functools.lru_cache(maxsize=256)
def _is_key(key: str) -> bool:
    return _KEY.fullmatch(key) is not None


@functools.lru_cache(maxsize=4096)
def person_line(person: Person) -> bytes:
    """Return a person as a commit writes one.

    Raises:
        LandingRefused: the name is empty, or name, mail, time or zone hold what git does not allow there.
    """
    if not person.name.strip() or _CRUD.search(person.name + person.mail):
        raise LandingRefused(f"{person.name!r} <{person.mail!r}> cannot be the author of a commit")
    if not 0 <= person.time < 1 << 63 or not _ZONE.fullmatch(person.zone):
        raise LandingRefused(f"{person.time} {person.zone} is no time of a commit")
    return f"{person.name.strip()} <{person.mail.strip()}> {person.time} {person.zone}".encode()


def message_bytes(message: str, trailers: Sequence[tuple[str, str]]) -> bytes:
    """Return the text of a commit: the message, an empty line, the trailers.

    Raises:
        LandingRefused: the message is empty or holds a NUL, or a trailer is none.
    """
    text = message.strip("\n")
    if not text.strip():
        raise LandingRefused("a commit needs a message")
    lines = []
    for key, value in trailers:
        if not _is_key(key) or "\n" in value or "\r" in value:
            raise LandingRefused(f"{key!r}: {value!r} is no trailer")
        lines.append(f"{key}: {value}\n")
    text = f"{text}\n\n{''.join(lines)}" if lines else f"{text}\n"
    if "\0" in text:
        raise LandingRefused("a commit's message may not hold a NUL")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise LandingRefused("a commit's message must be text that UTF-8 can hold") from None


def commit_bytes(
    *,
    tree: bytes,
    parents: Sequence[bytes],
    author: bytes,
    committer: bytes,
    message: bytes,
    sign: Callable[[bytes], bytes] | None = None,
) -> bytes:
    """Return a serialized commit; ``sign`` is given its bytes and returns the signature to put into it."""
    head = b"tree %s\n" % tree.hex().encode()
    for parent in parents:
        head += b"parent %s\n" % parent.hex().encode()
    head += b"author %s\ncommitter %s\n" % (author, committer)
    if sign is not None:
        signature = sign(head + b"\n" + message).rstrip(b"\n")
        head += b"gpgsig %s\n" % signature.replace(b"\n", b"\n ")
    return head + b"\n" + message


def parse_commit(id: bytes, content: bytes) -> CommitFacts:
    """Read a serialized commit; a message that is not UTF-8 is read as Latin-1."""
    head, _, body = content.partition(b"\n\n")
    tree = b""
    parents: list[CommitId] = []
    author = committer = b""
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"tree":
            tree = value
        elif key == b"parent":
            parents.append(CommitId(value.decode()))
        elif key == b"author":
            author = value
        elif key == b"committer":
            committer = value
    try:
        message = body.decode()
    except UnicodeDecodeError:
        message = body.decode("latin-1")
    return CommitFacts(
        id=CommitId(id.hex()),
        tree=ObjectId(tree.decode()),
        parents=tuple(parents),
        author=author,
        committer=committer,
        message=message,
    )


def trailers_of(message: str) -> tuple[tuple[str, str], ...]:
    """Return the trailers of a message: its last paragraph, if every line of it is one and it is not the first."""
    _, gap, last = message.rstrip("\n").rpartition("\n\n")
    if not gap:
        return ()
    found = []
    for line in last.split("\n"):
        match = _TRAILER.fullmatch(line)
        if match is None:
            return ()
        found.append((match.group(1), match.group(2)))
    return tuple(found)
