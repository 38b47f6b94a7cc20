from setuptools import setup

setup(
    name="shop",
    version="2.3.4",
    packages=["shop"],
)
