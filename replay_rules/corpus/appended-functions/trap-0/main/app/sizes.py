"""Parse sizes."""

UNITS = {"k": 1024}


def parse(text):
    return int(text)


def show(size):
    return f"{size} B"


def half(size):
    return size // 2
