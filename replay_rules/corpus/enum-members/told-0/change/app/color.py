import enum


class Color(enum.Enum):
    """Colours of a lamp."""

    RED = 1
    GREEN = 2
    PINK = 4

    def label(self):
        return self.name
