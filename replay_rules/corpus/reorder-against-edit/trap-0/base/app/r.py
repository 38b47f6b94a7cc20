ORDER = [
    "a",
    "b",
    "c",
]
