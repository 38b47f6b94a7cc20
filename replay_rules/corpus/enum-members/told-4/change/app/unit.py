from enum import StrEnum


class Unit(StrEnum):
    LITRE = "l"
    METRE = "m"
    SECOND = "s"
