"""How long the trains of a lane may be."""

from __future__ import annotations


class TrainSize:
    """A size that grows while trains are green and is halved by a red one, between 1 and a most.

    Additive increase, multiplicative decrease, as for a shared link (Chiu and Jain, "Analysis of the increase and
    decrease algorithms for congestion avoidance", 1989); a lane begins with the most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.now = most

    def green(self, members: int) -> None:
        """Take in that a train landed; one that was not full says nothing of a longer one."""
        if members >= self.now:
            self.now = min(self._most, self.now + 1 + self.now // 8)

    def red(self, members: int) -> None:
        """Take in that a train was red; one that half the size would have let through says nothing of it."""
        if members > self.now // 2:
            self.now = max(1, self.now // 2)
