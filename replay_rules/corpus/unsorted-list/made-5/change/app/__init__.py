"""Public names."""

__all__ = [
    "falcon",
    "harbor",
    "iris",
    "winter",
    "zephyr",
]
