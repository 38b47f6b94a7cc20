"""Find intents by what people call them: an id, a path, or a commit."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping

from qodebase.errors import QodebaseError
from qodebase.paths import RepoPath
from qodebase.state import IntentState

_COMMIT = re.compile(r"[0-9a-f]{4,40}")
_NAMED = 5


class NoIntent(QodebaseError):
    """A name that stands for no intent of the run, or for several where one is needed."""


def find_intents(states: Mapping[str, IntentState], name: str) -> list[IntentState]:
    """Return the intents that a name stands for: one by its id, else all of a path, else those of a commit.

    Raises:
        NoIntent: there is none; the message names what is near.
    """
    if name in states:
        return [states[name]]
    path = _path(name)
    found = [state for state in states.values() if path in state.intent.scope]
    found = found or [state for state in states.values() if path in state.paths]
    if not found and _COMMIT.fullmatch(name):
        found = [state for state in states.values() if state.commit and state.commit.startswith(name)]
    if not found:
        names = [*states, *(path.text for state in states.values() for path in state.intent.scope)]
        near = difflib.get_close_matches(name, dict.fromkeys(names), n=_NAMED, cutoff=0.7)
        hint = f"Near to it: {', '.join(near)}." if near else "Name an intent by its id, a path or a landed commit."
        raise NoIntent(f"no intent {name!r} in this run", hint=hint)
    return found


def find_intent(states: Mapping[str, IntentState], name: str) -> IntentState:
    """Return the one intent that a name stands for.

    Raises:
        NoIntent: there is none, or more than one; the hint names them.
    """
    found = find_intents(states, name)
    if len(found) > 1:
        ids = [state.intent.id for state in found]
        rest = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        raise NoIntent(f"{name!r} stands for {len(ids)} intents", hint=f"Name one: {', '.join(ids[:_NAMED])}{rest}.")
    return found[0]


def _path(name: str) -> RepoPath | None:
    try:
        return RepoPath.parse(name) if name.startswith('"') else RepoPath(os.fsencode(name.removeprefix("./")))
    except ValueError:
        return None
