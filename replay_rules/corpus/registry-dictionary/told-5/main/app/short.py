SIZES = {"s": 1, "m": 2, "l": 3}
