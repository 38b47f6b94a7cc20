"""Changes that were made before the run: read from two commits, handed in as they are, redone by a model if need be."""
