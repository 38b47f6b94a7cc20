HANDLERS = [
    exact_match,
    prefix_match,
]
