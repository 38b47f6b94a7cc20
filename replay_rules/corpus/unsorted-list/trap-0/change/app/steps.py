STEPS = [
    fetch,
    parse,
    store,
    archive,
]
