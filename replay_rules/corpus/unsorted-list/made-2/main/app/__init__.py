"""Public names."""

__all__ = [
    "cinder",
    "coral",
    "delta",
    "ginger",
    "prairie",
]
