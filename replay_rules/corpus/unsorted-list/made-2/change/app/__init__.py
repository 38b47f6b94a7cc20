"""Public names."""

__all__ = [
    "cinder",
    "coral",
    "delta",
    "hazel",
    "mistral",
]
