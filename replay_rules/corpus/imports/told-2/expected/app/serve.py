"""Serve."""

import json
import os

from app.core import run, stop, wait


def main():
    return run(json, os)
