__all__ = ["build", "check", "clean"]
