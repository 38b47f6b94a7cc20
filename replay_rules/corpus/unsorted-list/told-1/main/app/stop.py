"""Words that mean nothing."""

STOP_WORDS = {
    "a",
    "the",
    "of",
    "and",
}


def is_stop(word):
    return word in STOP_WORDS
