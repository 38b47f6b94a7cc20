STEPS = [
    fetch,
    parse,
    store,
]
