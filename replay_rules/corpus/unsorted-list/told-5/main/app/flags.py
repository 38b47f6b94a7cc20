FLAGS = frozenset({"a", "b", "c"})
