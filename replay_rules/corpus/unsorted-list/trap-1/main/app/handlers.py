HANDLERS = [
    exact_match,
    case_match,
    prefix_match,
]
