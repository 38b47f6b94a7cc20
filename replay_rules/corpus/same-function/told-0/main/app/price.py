def price(kind):
    if kind == "book":
        return 10
    elif kind == "pen":
        return 2
    elif kind == "ink":
        return 3
    else:
        return 5
