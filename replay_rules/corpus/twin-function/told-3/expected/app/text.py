"""Text."""


def upper(text):
    return text.upper()


def lower(text):
    return text.lower()


def both(text, other):
    return text + other
