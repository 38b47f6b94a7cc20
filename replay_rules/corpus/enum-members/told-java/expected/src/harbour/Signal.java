package harbour;

enum Signal {
    AHEAD,
    ASTERN,
    STOP,
    MOORED,
}
