class Shape:
    """A shape."""

    def area(self):
        return 0

    @staticmethod
    def unit():
        return Shape()
