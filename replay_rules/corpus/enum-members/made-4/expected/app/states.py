from enum import Enum


class State(Enum):
    JUNIPER = "juniper"
    HERON = "heron"
    VELVET = "velvet"
    THISTLE = "thistle"
    BIRCH = "birch"
    RIVER = "river"
    YARROW = "yarrow"
    OLIVE = "olive"
