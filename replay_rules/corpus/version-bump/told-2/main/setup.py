from setuptools import setup

setup(
    name="shop",
    version="2.4.0",
    packages=["shop"],
)
