"""Serve."""

import json
import os

from app.core import run
from app.data import load
from app.data2 import (
    read,
    write,
)


def main():
    return run(json, os)
