"""qodebase: a fleet runner that lands the work of thousands of agents on one codebase."""
