def fee(order):
    if order.total > 100:
        return 0
    if order.weight > 20:
        return 9
    return 5
