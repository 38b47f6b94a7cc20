def fee(order):
    if order.total > 100:
        return 0
    if order.member:
        return 1
    return 5
