import enum


class Code(enum.IntEnum):
    OK = 0
    BAD = 1
    LATE = 10
