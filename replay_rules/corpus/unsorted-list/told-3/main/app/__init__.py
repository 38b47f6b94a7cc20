__all__ = ["build", "clean", "deploy"]
