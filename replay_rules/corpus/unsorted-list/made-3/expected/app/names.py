KNOWN = frozenset(
    {
        "umber",
        "cypress",
        "kelp",
        "spruce",
        "walnut",
        "copper",
        "thistle",
    }
)
