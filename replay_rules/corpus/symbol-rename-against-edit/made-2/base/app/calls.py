def mistral(value):
    return value + 1


def raven(value):
    return mistral(value)
