VERSION = "1.11"
NAME = "shop"
