from enum import Enum


class State(Enum):
    PEBBLE = "pebble"
    CINDER = "cinder"
    SUMMIT = "summit"
    NORTH = "north"
    QUARTZ = "quartz"
    REEF = "reef"
