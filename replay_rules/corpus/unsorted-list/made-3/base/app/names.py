KNOWN = frozenset(
    {
        "umber",
        "cypress",
        "kelp",
        "spruce",
    }
)
