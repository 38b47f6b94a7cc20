from enum import StrEnum


class Unit(StrEnum):
    METRE = "m"
    SECOND = "s"
    MOLE = "mol"
    AMPERE = "A"
