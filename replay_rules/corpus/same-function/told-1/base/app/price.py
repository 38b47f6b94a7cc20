def price(kind):
    if kind == "book":
        return 10
    if kind == "pen":
        return 2
    return 5
