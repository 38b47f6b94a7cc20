from enum import StrEnum


class Unit(StrEnum):
    GRAM = "g"
    LITRE = "l"
    METRE = "m"
    SECOND = "s"
