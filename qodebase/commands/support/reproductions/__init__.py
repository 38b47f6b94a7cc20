"""How each published run is reproduced: one file a run, called as the run is.

A file holds ``take(ask: Ask) -> Taken``, which does the work once; where it asks a model of the caller's choice,
``MODEL``, the one that it asks by itself; and ``REPOSITORIES = True`` where it can work on the caller's repositories.
"""
