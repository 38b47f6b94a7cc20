"""Serve."""

import json

from app.core import run


def main():
    return run(json, os)
