"""Which names a change gives another meaning in Python code, and which ones a test mentions."""
