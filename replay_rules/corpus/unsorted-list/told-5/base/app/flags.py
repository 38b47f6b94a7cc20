FLAGS = frozenset({"a", "b"})
