"""``six-codebases``: the same job on a list of codebases, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from qodebase.commands.support.reproductions._asked import Ask, Taken

MODEL = "outline"
REPOSITORIES = True
_COUNT = 6


def take(ask: Ask) -> Taken:
    """Do the work once."""
    from qodebase.commands.support.reproductions._documenting import code_touched, document, model_differs
    from qodebase.commands.support.reproductions._sources import Codebase, part_of, python_codebases

    given = [Codebase(path.resolve().name, part_of(path, ask), path.resolve().name) for path in ask.repositories]
    codebases = given or python_codebases(ask, count=_COUNT)
    landed = touched = 0
    busiest = 0.0
    verified = True
    for number, code in enumerate(codebases, 1):
        ask.say(f"{number} of {len(codebases)}: {code.what}")
        out = ask.space / f"run-{number}"
        done = document(ask, code.repository, out, workers=ask.sized(ask.published.agents), settings={})
        landed += done.summary.landed
        touched += code_touched(done.audit)
        busiest = max(busiest, busiest_minute([event.at for event in done.landed], done.summary.seconds))
        verified = verified and done.audit.ok
    return Taken(
        figures={"landed": landed, "busiest_minute": busiest, "code_touched": touched},
        differs=(
            f"code: {', '.join(code.what for code in codebases)}; the six published ones are not named",
            model_differs(ask.model),
        ),
        verified=verified,
    )


def busiest_minute(moments: Sequence[float], seconds: float) -> float:
    """Return landings a second in the busiest 60 seconds, in the whole run where it is shorter.

    Args:
        moments: when each landed, in order.
        seconds: how long the run took, the time before the first landing included.
    """
    if not moments:
        return 0.0
    first, most = 0, 0
    for last, moment in enumerate(moments):
        while moment - moments[first] > 60.0:
            first += 1
        most = max(most, last - first + 1)
    return most / min(60.0, max(1.0, seconds))
