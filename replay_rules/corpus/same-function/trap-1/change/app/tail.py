def total(items):
    result = sum(items)
    result = result * 1.2
    return result
