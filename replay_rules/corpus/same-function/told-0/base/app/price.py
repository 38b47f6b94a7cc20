def price(kind):
    if kind == "book":
        return 10
    elif kind == "pen":
        return 2
    else:
        return 5
