LIMIT = 6
NAME = "a"
