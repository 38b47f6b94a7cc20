"""Branches as pieces of work: what each says of itself, who made it, against which commit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from fleet.given.authors import author_line
from fleet.given.scratch import Scratch
from qodebase.intent import Ending, Given
from qodebase.paths import CommitId

_FORM = "--format=%an%x00%ae%x00%ad%x00%B%x01"
_OURS = re.compile(r"(?im)^qodebase-[a-z]+:.*\n?")
_MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One piece of work.

    Attributes:
        id: the intent's.
        name: the branch's or the file's.
        asked: the text that came with it.
        given: its change; None where it has none that could be landed.
        ending, why: how it ends before any work, where it does.
    """

    id: str
    name: str
    asked: str
    given: Given | None = None
    ending: Ending = Ending.PENDING
    why: str = ""


class Said(NamedTuple):
    """What a commit says: its author as git writes it, the same without the time, its message."""

    author: str
    person: str
    message: str


def branch_work(scratch: Scratch, name: str, tip: CommitId, base: CommitId) -> Work:
    """Return a branch as work against its merge base with ``base``, or why there is nothing to land in it."""
    id = f"branch:{name}"
    ancestor = scratch.merge_base(base, tip)
    if ancestor is None:
        why = "unrelated history: it has no commit in common with the branch that it should land on"
        return Work(id=id, name=name, asked=f"Land {name}", ending=Ending.REFUSED, why=why)
    if ancestor == tip:
        why = f"merged already: its tip {tip[:12]} is on the branch that it should land on"
        return Work(id=id, name=name, asked=f"Land {name}", ending=Ending.SKIPPED, why=why)
    said = _said(scratch, ancestor, tip)
    author = said[-1].author
    others = dict.fromkeys(one.person for one in said if one.person != said[-1].person)
    given = Given(base=ancestor, tip=tip, author=author, others=tuple(others))
    return Work(id=id, name=name, asked=_asked(name, [one.message for one in said]), given=given)


def without_ours(text: str) -> str:
    """Return a text as a commit can hold it, without the trailers by which landings are known."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return _OURS.sub("", plain).strip()[:_MOST_TEXT].rstrip()


def _asked(name: str, messages: Iterable[str]) -> str:
    """Return one text of a branch's messages, the oldest first."""
    return "\n\n".join(filter(None, map(without_ours, messages))) or f"Land {name}"


def _said(scratch: Scratch, base: CommitId, tip: CommitId) -> list[Said]:
    """Return what the commits of a branch say, oldest first; merges say nothing unless the tip is one."""
    words = ("log", "--reverse", "--date=raw", "--encoding=UTF-8", _FORM)
    told = scratch.ask(*words, "--no-merges", f"{base}..{tip}") or scratch.ask(*words, "--max-count=1", tip)
    found = []
    for record in told.decode(errors="replace").split("\x01")[:-1]:
        name, mail, when, message = record.removeprefix("\n").split("\0", 3)
        time, _, zone = when.partition(" ")
        line = author_line(name, mail, time, zone)
        found.append(Said(line, line.rpartition(">")[0] + ">", message))
    return found
