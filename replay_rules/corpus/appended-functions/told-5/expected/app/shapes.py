class Shape:
    """A shape."""

    def area(self):
        return 0

    @property
    def name(self):
        return "shape"

    @staticmethod
    def unit():
        return Shape()
