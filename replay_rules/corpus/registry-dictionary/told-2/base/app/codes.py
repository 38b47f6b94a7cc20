CODES = {
    404: "gone",
    200: "fine",
}
