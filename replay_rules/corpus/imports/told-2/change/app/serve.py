"""Serve."""

import json
import os

from app.core import run, wait


def main():
    return run(json, os)
