def keep():
    return 0


def old():
    return 2
