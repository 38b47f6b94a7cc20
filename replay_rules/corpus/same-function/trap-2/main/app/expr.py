def area(a, b):
    return abs(a * b)
