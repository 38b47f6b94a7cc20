def willow(value):
    return value + 1


def amber(value):
    return willow(value)
