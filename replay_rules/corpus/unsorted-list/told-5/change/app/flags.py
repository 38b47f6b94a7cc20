FLAGS = frozenset({"a", "b", "d"})
