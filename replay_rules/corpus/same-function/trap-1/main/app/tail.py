def total(items):
    result = sum(items)
    result = round(result, 2)
    return result
