package harbour;

enum Signal {
    AHEAD,
    ASTERN,
}
