STEPS = [
    fetch,
    parse,
    store,
    publish,
]
