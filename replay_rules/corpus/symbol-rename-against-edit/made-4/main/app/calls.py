def yarrow(value):
    return value + 1


def iris(value):
    return 6 * yarrow(value)
