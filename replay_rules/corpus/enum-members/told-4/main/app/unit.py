from enum import StrEnum


class Unit(StrEnum):
    GRAM = "g"
    METRE = "m"
    SECOND = "s"
