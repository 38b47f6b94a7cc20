"""The single writer of main and of the notes."""
