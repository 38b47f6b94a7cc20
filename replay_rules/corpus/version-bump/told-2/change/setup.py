from setuptools import setup

setup(
    name="shop",
    version="2.3.5",
    packages=["shop", "shop.web"],
)
