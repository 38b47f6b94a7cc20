def fee(order):
    if order.total > 100:
        return 0
    return 5
