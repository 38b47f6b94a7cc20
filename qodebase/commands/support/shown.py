"""The changes of a run as people look at them: what each does, with its prompt and its proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from qodebase.change import SUBMODULE, Change
from qodebase.collision import Entry, Side
from qodebase.commands.support.intent_names import NoIntent, find_intents
from qodebase.commands.support.kept import Kept
from qodebase.commands.support.layout import some
from qodebase.commands.support.unified import unified
from qodebase.edits import materialise
from qodebase.events import ChangeMade
from qodebase.paths import CommitId, RepoPath
from qodebase.runs import RunFolder
from qodebase.state import IntentState
from results.repository import Repository
from results.run_data import RunData


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One change as it landed, or as it was made where it did not.

    Attributes:
        ending, reason: how its intent stands.
        commit: where it landed; empty where it did not.
        against: the commit that ``diff`` is against: the landing's parent, or the base that the change was made on.
        paths: what it touches.
        proof: what the job proved of it; ``sanitised`` names what was made harmless in the answer.
        prompt: the last one of this intent; empty where the run held the answer already.
        diff: unified, as git writes it.
    """

    intent: str
    asked: str
    ending: str
    reason: str
    attempt: int
    commit: str
    against: str
    paths: list[str]
    proof: str
    sanitised: list[str]
    prompt: str
    diff: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def shown_changes(folder: RunFolder, intents: Sequence[str] = (), *, limit: int = 0) -> Iterator[Shown]:
    """Yield changes: those that landed, in that order, then those that were made and did not.

    Args:
        intents: ids, paths or commits; none means all.
        limit: at most so many; 0 means all.

    Raises:
        NoIntent: a name stands for no intent, or for one without a change.
    """
    data = RunData(folder)
    chosen = _chosen(data.state.intents, intents)
    made = {event.intent: event for event in data.events if isinstance(event, ChangeMade)}
    with Repository(folder.repository) as repository, Kept(folder.attempts) as kept:
        for state in chosen[: limit or None]:
            yield _shown(state, made.get(state.intent.id), repository, kept)


def _chosen(states: dict[str, IntentState], names: Sequence[str]) -> list[IntentState]:
    wanted: Iterable[IntentState] = states.values()
    if names:
        wanted = {state.intent.id: state for name in names for state in find_intents(states, name)}.values()
    chosen = [state for state in wanted if state.commit or state.change_ref]
    if names and not chosen:
        ends = [f"{state.intent.id} is {_ended(state)}" for state in wanted]
        raise NoIntent(f"no change to show: {some(ends, most=3)}", hint="`qodebase log RUN INTENT` says what happened.")
    return sorted(chosen, key=lambda state: (state.commit is None, state.ended_at))


def _ended(state: IntentState) -> str:
    return f"{state.ending} ({state.reason})" if state.reason else str(state.ending)


def _shown(state: IntentState, made: ChangeMade | None, repository: Repository, kept: Kept) -> Shown:
    if state.commit:
        against, diffs = _landed(repository, state.commit)
    else:
        against, diffs = _made(repository, kept.change(state.change_ref))
    own_first = sorted(diffs, key=lambda path: (path not in state.intent.scope, path))
    asked = state.asked[max(state.asked)] if state.asked else None
    return Shown(
        intent=state.intent.id,
        asked=state.intent.asked,
        ending=str(state.ending),
        reason=state.reason,
        attempt=state.attempt,
        commit=state.commit or "",
        against=against,
        paths=[path.text for path in own_first],
        proof=made.proof if made else "",
        sanitised=list(made.sanitised) if made else [],
        prompt=kept.prompt(asked.ref) if asked else "",
        diff="".join(diffs[path] for path in own_first),
    )


def _landed(repository: Repository, id: CommitId) -> tuple[str, dict[RepoPath, str]]:
    """Return the commit below a landing, and what the landing did to each path."""
    commit = repository.reader.commit(id)
    against = commit.parents[0]
    differs = repository.trees.diff(repository.reader.commit(against).tree, commit.tree)
    return against, {
        path: unified(path, _side(repository, found.before), _side(repository, found.after))
        for path, found in differs.items()
    }


def _made(repository: Repository, change: Change) -> tuple[str, dict[RepoPath, str]]:
    """Return the base of a change that did not land, and what the change does to each path."""
    base = repository.view(change.base)
    edits = materialise(change, base)
    diffs = {}
    for path, edit in edits.items():
        after = Side(content=edit.content, mode=edit.mode) if edit else Side(content=None)
        diffs[path] = unified(path, _side(repository, base.entry(path)), after)
    return change.base, diffs


def _side(repository: Repository, entry: Entry | None) -> Side:
    if entry is None:
        return Side(content=None)
    if entry.mode == SUBMODULE:
        return Side(content=f"Subproject commit {entry.id}\n".encode(), mode=entry.mode)
    return Side(content=repository.blob(entry.id), mode=entry.mode)
