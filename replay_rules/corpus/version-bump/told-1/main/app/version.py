VERSION = "1.10"
NAME = "shop"
