"""Serve."""

import json
import os

from app.core import run


def main():
    return run(json, os)
