def yarrow(value):
    return value + 1


def iris(value):
    return yarrow(value)
