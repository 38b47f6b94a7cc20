VERSION = "1.9"
NAME = "shop"
