def ember(value):
    return value + 1


def raven(value):
    return 4 * ember(value)
