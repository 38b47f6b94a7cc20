def b():
    return 2


def c():
    return 3


def a():
    return 1 + 1
