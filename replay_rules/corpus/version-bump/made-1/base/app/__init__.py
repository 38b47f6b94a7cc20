"""Shop."""

__version__ = "1.8.8"
