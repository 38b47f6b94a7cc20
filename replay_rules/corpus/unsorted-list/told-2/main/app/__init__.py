from .core import build
from .core import clean

__all__ = [
    "build",
    "clean",
    "deploy",
]
