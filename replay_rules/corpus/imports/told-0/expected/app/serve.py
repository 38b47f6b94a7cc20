"""Serve."""

import json
import os
import re
import sys

from app.core import run


def main():
    return run(json, os)
