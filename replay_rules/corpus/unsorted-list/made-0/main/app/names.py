KNOWN = frozenset(
    {
        "larch",
        "lilac",
        "amber",
        "topaz",
        "anchor",
        "velvet",
    }
)
