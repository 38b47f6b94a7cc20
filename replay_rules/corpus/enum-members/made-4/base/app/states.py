from enum import Enum


class State(Enum):
    JUNIPER = "juniper"
    HERON = "heron"
    VELVET = "velvet"
    THISTLE = "thistle"
    BIRCH = "birch"
