"""The scorer of the dial: what a run's landings are worth, told by tests that the gate never saw."""
