"""Serve."""

import json
import os

from app.core import run
from app.data import load


def main():
    return run(json, os)
