"""Serve."""

import json
import os
import re

from app.core import run


def main():
    return run(json, os)
