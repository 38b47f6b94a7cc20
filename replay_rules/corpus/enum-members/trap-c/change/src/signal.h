#pragma once

enum signal {
    AHEAD = 1,
    ASTERN = 2,
    MOORED = 3,
};
