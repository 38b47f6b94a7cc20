FLAGS = frozenset({"a", "b", "c", "d"})
