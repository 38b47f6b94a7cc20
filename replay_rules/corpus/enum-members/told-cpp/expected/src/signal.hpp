#pragma once

enum class Signal {
    Ahead,
    Astern,
    Stop,
    Moored,
};
