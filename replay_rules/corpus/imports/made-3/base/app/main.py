"""Main."""

from app.raven import raven
from app.tidal import tidal
from app.willow import willow
from app.quartz import quartz


def main() -> None:
    amber()
