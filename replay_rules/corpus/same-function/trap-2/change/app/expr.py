def area(a, b):
    return float(a * b)
