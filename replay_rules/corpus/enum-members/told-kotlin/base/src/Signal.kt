package harbour

enum class Signal {
    AHEAD,
    ASTERN,
}
