SIZES = {"s": 1, "m": 2}
