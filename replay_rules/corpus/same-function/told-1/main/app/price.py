def price(kind):
    if kind == "book":
        return 10
    if kind == "pen":
        return 2
    if kind == "ink":
        return 3
    return 5
