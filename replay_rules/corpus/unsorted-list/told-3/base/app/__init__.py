__all__ = ["build", "clean"]
