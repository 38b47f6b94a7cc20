import enum


class Color(enum.Enum):
    """Colours of a lamp."""

    RED = 1
    GREEN = 2
    BLUE = 3

    def label(self):
        return self.name
