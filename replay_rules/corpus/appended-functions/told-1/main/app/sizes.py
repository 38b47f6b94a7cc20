"""Parse sizes."""

UNITS = {"k": 1024}


def parse(text):
    return int(text)


def parse_all(texts):
    return [parse(text) for text in texts]


def show(size):
    return f"{size} B"
