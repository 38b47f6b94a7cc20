"""Public names."""

__all__ = [
    "falcon",
    "harbor",
    "zephyr",
]
