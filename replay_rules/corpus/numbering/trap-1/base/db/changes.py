CHANGES = {
    1: "begin",
}
