"""Text."""


def upper(text):
    return text.upper()


def clean(text):
    return text.strip()


def lower(text):
    return text.lower()
