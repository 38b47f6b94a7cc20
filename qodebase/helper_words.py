"""What a run's process and its helper say to each other: frames of MessagePack, each behind its length."""

from __future__ import annotations

import struct
from typing import Any, BinaryIO

import msgspec

from qodebase.change import Change
from qodebase.codec import PACK, pack_decoder
from qodebase.intent import Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Message, Unusable

LENGTH = struct.Struct(">L")


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """The first frame to a helper: which job it opens, on what.

    Attributes:
        job, job_file, job_digest, job_settings, base, lanes: as in the run's settings.
        repository: the run's own.
        landings: how many are expected; see `qodebase.ports.Routed`.
    """

    job: str
    job_file: str
    job_digest: str
    job_settings: dict[str, Any]
    repository: str
    base: CommitId
    lanes: dict[str, tuple[str, ...]]
    landings: int


class Request(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """Make a prompt, or, where there is an answer, a change.

    Attributes:
        commit: of the fork.
        entries: path, mode and id of what the fork holds at the intent's scope and shared paths; mode 0: nothing.
        contents: those of shared paths.
        shared: the shared paths that the change may touch.
    """

    number: int
    intent: Intent
    commit: CommitId
    entries: tuple[tuple[RepoPath, int, str], ...]
    contents: tuple[tuple[RepoPath, bytes], ...]
    shared: tuple[RepoPath, ...]
    answer: str | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What a helper says about a request; its kinds are the classes below."""

    number: int


class Prompted(Said, frozen=True, kw_only=True, array_like=True, tag="prompt"):
    """A prompt without its facts, its digest, and its messages as segments hold them."""

    messages: tuple[Message, ...]
    max_output_tokens: int
    shows: tuple[RepoPath, ...]
    digest: str
    packed: bytes


class Changed(Said, frozen=True, kw_only=True, array_like=True, tag="change"):
    """A change and its proof, as in `fleet.making.Made`; ``digest`` and ``packed`` as in `fleet.attempts.Packed`.

    ``contents`` is what the fork holds at the paths of the scope.
    """

    change: Change
    proof: str
    proof_s: float
    sanitised: tuple[str, ...]
    digest: str
    packed: bytes
    contents: tuple[tuple[RepoPath, bytes], ...]


class Refused(Said, frozen=True, kw_only=True, array_like=True, tag="unusable"):
    """The answer is no change."""

    unusable: Unusable


class Failed(Said, frozen=True, kw_only=True, array_like=True, tag="failed"):
    """The job failed; whoever asked makes the thing itself, and sees why."""


AnySaid = Prompted | Changed | Refused | Failed

OPENING: msgspec.msgpack.Decoder[Opening] = pack_decoder(Opening)
REQUESTS: msgspec.msgpack.Decoder[list[Request]] = pack_decoder(list[Request])
SAID: msgspec.msgpack.Decoder[list[AnySaid]] = pack_decoder(list[AnySaid])


def frame(value: object) -> bytes:
    """Return a value as a frame."""
    content = PACK.encode(value)
    return LENGTH.pack(len(content)) + content


def read_frame(file: BinaryIO) -> bytes:
    """Return the content of the next frame; empty where there is no more."""
    head = file.read(LENGTH.size)
    return file.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
