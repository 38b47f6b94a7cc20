"""``lanes-check``: is every landed change one commit and one record, whatever lane it took?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from qodebase.commands.support.reproductions._asked import Ask, Taken

if TYPE_CHECKING:
    from qodebase.commands.support.reproductions._running import Ran

MODEL = "outline"
_LANES = 8


def take(ask: Ask) -> Taken:
    """Do the work once."""
    from qodebase.commands.support.reproductions._documenting import document, model_differs
    from qodebase.commands.support.reproductions._sources import made_up

    files = ask.sized(ask.published.intents)
    code = made_up(ask.space / "code.git", files, seed=ask.seed, areas=_LANES)
    lanes = {f"lane-{number}": [f"area{number:02d}/**"] for number in range(_LANES)}
    done = document(ask, code, ask.space / "run", workers=files, settings={"index": ""}, lanes=lanes)
    commits, records = _counted(done)
    return Taken(
        figures={"landed": done.summary.landed, "commits": commits, "records": records},
        differs=(f"work: headers for {files} made-up files in {_LANES} lanes", model_differs(ask.model)),
        verified=done.audit.ok,
    )


def _counted(done: Ran) -> tuple[int, int]:
    """Return how many landed intents have one commit of their own, and one record that says what the journal says."""
    from qodebase.record import read_note
    from qodebase.trailers import INTENT, RUN
    from qodebase.trunk.reader import Reader

    settings = done.folder.settings()
    with Reader(done.folder.repository) as reader:
        tip = reader.tip(settings.branch)
        assert tip is not None, "a run has its branch"
        log = [(commit.id, dict(commit.trailers)) for commit in reader.log(tip, settings.base)]
        once = Counter(words.get(INTENT) for _, words in log if words.get(RUN) == settings.run)
        notes = {commit: reader.note(commit) for commit, _ in log}
    good = 0
    for event in done.landed:
        note = notes.get(event.commit)
        record = read_note(note, source=event.commit) if note is not None else None
        good += record is not None and (record.intent, record.lane) == (event.intent, event.lane)
    return sum(once[event.intent] == 1 for event in done.landed), good
