"""Serve."""

import json
import os.path

from app.core import run


def main():
    return run(json, os)
