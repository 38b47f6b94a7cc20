CODES = {
    404: "gone",
    200: "fine",
    301: "moved",
}
