"""The trailers of a landed commit, which name it without its note."""

from __future__ import annotations

RUN = "Qodebase-Run"
INTENT = "Qodebase-Intent"
ATTEMPT = "Qodebase-Attempt"
LANE = "Qodebase-Lane"
TRAIN = "Qodebase-Train"
REPLAY = "Qodebase-Replay"
COMPOSE = "Qodebase-Compose"
"""On the commit that folds shards into one path: that path; such a commit has a run and no intent."""
