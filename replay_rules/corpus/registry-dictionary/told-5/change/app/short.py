SIZES = {"s": 1, "m": 2, "xl": 4}
