def ember(value):
    return value + 1


def raven(value):
    return ember(value)
