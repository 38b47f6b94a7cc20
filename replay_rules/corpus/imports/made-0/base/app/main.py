"""Main."""

from app.sierra import sierra
from app.falcon import falcon
from app.iris import iris
from app.maple import maple


def main() -> None:
    amber()
