CHANGES = {
    1: "begin",
    2: "orders",
}
