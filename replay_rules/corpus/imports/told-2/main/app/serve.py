"""Serve."""

import json
import os

from app.core import run, stop


def main():
    return run(json, os)
