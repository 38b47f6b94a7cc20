ORDER = [
    "c",
    "b",
    "a",
]
