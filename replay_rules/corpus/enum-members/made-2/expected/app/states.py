from enum import Enum


class State(Enum):
    CYPRESS = "cypress"
    WILLOW = "willow"
    MAPLE = "maple"
    TIDAL = "tidal"
    UMBER = "umber"
    FALCON = "falcon"
    COPPER = "copper"
