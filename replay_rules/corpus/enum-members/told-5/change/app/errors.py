import enum


class Code(enum.IntEnum):
    OK = 0
    BAD = 1
    GONE = 11
