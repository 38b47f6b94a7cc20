"""Public names."""

__all__ = [
    "falcon",
    "harbor",
    "sage",
    "zephyr",
]
