"""Serve."""

import json
import os

from app.core import start as run


def main():
    return run(json, os)
