def total(items):
    result = sum(items)
    return result
