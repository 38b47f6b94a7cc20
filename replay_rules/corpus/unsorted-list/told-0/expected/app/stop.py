"""Words that mean nothing."""

STOP_WORDS = {
    "the",
    "of",
    "and",
    "to",
    "in",
    "on",
}


def is_stop(word):
    return word in STOP_WORDS
