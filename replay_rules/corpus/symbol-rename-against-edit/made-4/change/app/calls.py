def marble(value):
    return value + 1


def iris(value):
    return marble(value)
