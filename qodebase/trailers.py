"""The trailers of a landed commit, which name it without its note."""

from __future__ import annotations

RUN = "Qodebase-Run"
INTENT = "Qodebase-Intent"
ATTEMPT = "Qodebase-Attempt"
LANE = "Qodebase-Lane"
TRAIN = "Qodebase-Train"
REPLAY = "Qodebase-Replay"
UNDOES = "Qodebase-Undoes"
"""On a commit that takes a landing back: the landing's commit."""
CO_AUTHOR = "Co-authored-by"
"""Git's own word for one more author."""
JOINS = "Qodebase-Joins"
"""On a merge that makes what others pushed one commit behind ours: the tip that it joins."""
COMPOSE = "Qodebase-Compose"
"""On the commit that folds shards into one path: that path; such a commit has a run and no intent."""
