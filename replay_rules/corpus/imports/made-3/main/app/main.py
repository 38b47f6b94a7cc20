"""Main."""

from app.raven import raven
from app.tidal import tidal
from app.willow import willow
from app.quartz import quartz
from app.delta import delta


def main() -> None:
    amber()
