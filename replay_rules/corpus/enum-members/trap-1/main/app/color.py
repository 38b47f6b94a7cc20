import enum


class Color(enum.Enum):
    """Colours of a lamp."""

    RED = enum.auto()
    BLUE = enum.auto()
    GREEN = enum.auto()

    def label(self):
        return self.name
