def price(kind):
    if kind == "book":
        return 10
    elif kind == "pen":
        return 2
    elif kind == "map":
        return 8
    else:
        return 5
