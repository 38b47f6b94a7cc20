"""Making a given change again with a model: the question on the newest text, and the answer as operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.jobs.edit.answers import BadAnswer, fenced
from fleet.jobs.edit.formats import asking, parse, says_no_change
from fleet.jobs.edit.texts import NEW, Form, NoText, fault_of_entry, read
from qodebase.change import Change, Write
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.ports import Accepted, Message, Prompt, Tree, Unusable

_FORM = "whole"
_BYTES_A_TOKEN = 2
_OUTPUT_TOKENS = 4000

_Texts = Mapping[RepoPath, tuple[Form, str]]


def redo_prompt(intent: Intent, fork: Tree) -> Prompt:
    """Ask for the intent's change on the text that ``fork`` has; the story of the replay comes before it."""
    texts = _texts(intent, fork)
    shown = "\n".join(f"{path.text}\n{fenced(text)}" for path, (_, text) in texts.items())
    size = sum(len(text.encode()) for _, text in texts.values())
    text = f"Asked:\n{intent.asked}\n\nThe newest text of its files:\n\n{shown}\n\n{asking(_FORM, len(texts))}"
    return Prompt(
        messages=(Message(role="user", text=text),),
        max_output_tokens=size // _BYTES_A_TOKEN + _OUTPUT_TOKENS,
        facts={"texts": {path.text: text for path, (_, text) in texts.items()}},
        shows=tuple(texts),
    )


def redone(intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
    """Read the whole files of an answer as a change against ``fork``."""
    if says_no_change(answer):
        return Unusable(ending=Ending.NO_ANSWER, why="the model says that nothing is to be changed")
    try:
        operations = tuple(_operations(_texts(intent, fork), answer))
    except BadAnswer as bad:
        return Unusable(ending=bad.ending, why=bad.why)
    except NoText as error:
        return Unusable(ending=Ending.NO_ANSWER, why=f"the answer is no text: {error}")
    if not operations:
        return Unusable(ending=Ending.NO_ANSWER, why="the answer leaves everything as it is")
    return Accepted(change=Change(base=fork.commit, operations=operations))


def _operations(texts: _Texts, answer: str) -> Iterator[Write]:
    for path, text in parse(_FORM, answer, {path: text for path, (_, text) in texts.items()}).items():
        form, before = texts[path]
        if text != before:
            yield Write(path=path, content=form.stored(text))


def _texts(intent: Intent, fork: Tree) -> _Texts:
    """Return the files of the scope that a model can write: text, or not there yet."""
    found = {}
    for path in intent.scope:
        entry = fork.entry(path)
        if fault_of_entry(entry):
            continue
        try:
            found[path] = read(fork.read(path)) if entry is not None else (NEW, "")
        except NoText:
            continue
    return found
