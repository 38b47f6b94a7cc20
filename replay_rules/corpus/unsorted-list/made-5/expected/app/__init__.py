"""Public names."""

__all__ = [
    "falcon",
    "harbor",
    "iris",
    "sage",
    "winter",
    "zephyr",
]
