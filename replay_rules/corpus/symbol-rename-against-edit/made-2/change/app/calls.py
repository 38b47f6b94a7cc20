def mistral(value):
    return value + 1


def raven(value):
    return 4 * mistral(value)
