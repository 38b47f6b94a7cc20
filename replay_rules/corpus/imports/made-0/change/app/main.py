"""Main."""

from app.sierra import sierra
from app.falcon import falcon
from app.iris import iris
from app.maple import maple
from app.coral import coral


def main() -> None:
    amber()
