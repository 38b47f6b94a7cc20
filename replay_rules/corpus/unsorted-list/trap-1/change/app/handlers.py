HANDLERS = [
    exact_match,
    fuzzy_match,
    prefix_match,
]
