CODES = {
    404: "gone",
    200: "fine",
    500: "broken",
}
