def old():
    return 2
