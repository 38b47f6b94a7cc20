def a(x, y):
    return x + y
