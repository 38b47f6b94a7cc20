"""Parse sizes."""

UNITS = {"k": 1024}


def parse(text):
    return int(text)


def parse_all(texts):
    return [parse(text) for text in texts]


class Size:
    def __init__(self, value):
        self.value = value

    def __int__(self):
        return self.value


def show(size):
    return f"{size} B"
