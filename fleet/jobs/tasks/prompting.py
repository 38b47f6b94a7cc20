"""The prompt of a task: what is asked, its checks, and the newest text of its files."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.jobs.tasks.answers import FORMAT
from fleet.jobs.tasks.task import Task
from qodebase.paths import RepoPath
from qodebase.ports import Message

_SYSTEM = f"""\
You do one small task in a Python codebase. Do what is asked and nothing else: all other behaviour stays as it is, other
people work on the same files, and tests that you do not see judge the result. Keep the style of the code around.

{FORMAT}"""

_NEW = "(the file does not exist yet)\n"


def messages(task: Task, sources: Mapping[RepoPath, str], *, again: bool) -> tuple[Message, ...]:
    """Return the messages for one task.

    Args:
        task: what is asked.
        sources: the text of each file of its scope; empty for one that does not exist.
        again: the task was answered before, on older text.
    """
    newest = ", as they are now" if again else ""
    parts = [f"Task: {task.text}"]
    if task.checks:
        parts.append("These tests must pass:\n\n" + "\n\n".join(_shown(*one) for one in _texts(task.checks)))
    parts.append(f"The files that you may change{newest}:\n\n" + "\n\n".join(_shown(*one) for one in sources.items()))
    return (Message(role="system", text=_SYSTEM), Message(role="user", text="\n\n".join(parts)))


def _texts(files: Mapping[RepoPath, bytes]) -> list[tuple[RepoPath, str]]:
    return [(path, content.decode(errors="replace")) for path, content in files.items()]


def _shown(path: RepoPath, text: str) -> str:
    return f"FILE {path.text}\n```python\n{text or _NEW}```"
