from enum import StrEnum


class Unit(StrEnum):
    METRE = "m"
    SECOND = "s"
    KELVIN = "K"
    MOLE = "mol"
    AMPERE = "A"
