"""What a model is told before a job's own question when it redoes an intent on a newer main."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from qodebase.change import SUBMODULE
from qodebase.collision import Collided, Collision, Side
from qodebase.edits import BadChange, Edit, materialise
from qodebase.paths import RepoPath
from qodebase.ports import Message, Prompt, ReplayRequest, Tree

MOST_CHARACTERS = 8_000
"""The most that a prompt shows of the original change, and of the regions that clash."""

_MOST_INTENTS = 12


def with_replay(prompt: Prompt, request: ReplayRequest, before: Tree, now: Tree, asked: Mapping[str, str]) -> Prompt:
    """Return a job's prompt with the replay's story before its last message.

    Args:
        prompt: the job's question on the newest main.
        before: the code that the original change was made on.
        now: the newest main.
        asked: sentences of the intents that landed in between, by id.
    """
    *first, last = prompt.messages
    told = Message(role=last.role, text=f"{replay_text(request, before, now, asked)}\n\n{last.text}")
    return prompt.saying((*first, told)).quoting(request.failed)


def replay_text(request: ReplayRequest, before: Tree, now: Tree, asked: Mapping[str, str]) -> str:
    """Return the intent as it was asked, its original change, what landed in between and what clashes with it."""
    try:
        edits = materialise(request.change, before)
    except (BadChange, KeyError) as error:
        raise RuntimeError(f"the change of {request.intent.id} does not fit its own base: {error}") from error
    parts = [
        "This was asked, and answered on an older text of the code; main has moved since. Do it again on the newest"
        " text, keeping what landed in between.",
        f"Asked:\n{request.intent.asked}",
        f"The original change:\n{_cut(_diff(edits, before))}",
    ]
    moved = [(one.path, one.moved_to) for one in request.collided if one.moved_to and now.entry(one.path) is None]
    if moved:
        parts.append("\n".join(f"{path.text} is now {there.text}." for path, there in moved))
    landed = list(dict.fromkeys(request.since))[-_MOST_INTENTS:]
    if landed:
        sentences = "\n".join(f"- {asked.get(intent, intent)}" for intent in landed)
        parts.append(f"Landed in between on the same files:\n{sentences}")
    if clashing := _clashes(edits, request.collided, before, now):
        parts.append(f"Both changed these regions:\n{_cut(clashing)}")
    if request.failed:
        parts.append(f"The last answer did not do: {request.failed}")
    return "\n\n".join(parts)


def _diff(edits: Mapping[RepoPath, Edit | None], before: Tree) -> str:
    out: list[str] = []
    for path, edit in edits.items():
        old, new = _side(before, path).content or b"", b"" if edit is None else edit.content
        if b"\0" in old + new:
            out.append(f"{path.text}: binary\n")
            continue
        before_lines, after_lines = (side.decode(errors="replace").splitlines(keepends=True) for side in (old, new))
        lines = difflib.unified_diff(before_lines, after_lines, fromfile=path.text, tofile=path.text)
        out += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(out)


def _clashes(edits: Mapping[RepoPath, Edit | None], collided: Iterable[Collided], before: Tree, now: Tree) -> str:
    from replay_rules.conflict import clashes, described

    out = []
    for one in collided:
        there = one.moved_to or one.path
        edit = edits.get(one.path) or edits.get(there)
        main = there if now.entry(there) is not None else one.path
        change = Side(content=None) if edit is None else Side(content=edit.content, mode=edit.mode)
        collision = Collision(path=there, base=_side(before, one.path), main=_side(now, main), change=change)
        out.append(described(there.text, clashes(collision)))
    return "\n".join(text for text in out if text)


def _side(tree: Tree, path: RepoPath) -> Side:
    entry = tree.entry(path)
    if entry is None or entry.mode == SUBMODULE:
        return Side(content=None)
    return Side(content=tree.read(path), mode=entry.mode)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "\n[the rest is not shown]"
