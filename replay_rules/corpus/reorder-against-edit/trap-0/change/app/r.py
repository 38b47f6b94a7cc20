ORDER = [
    "a",
    "bb",
    "c",
]
