"""Serve."""

import json
import os

from app.core import run as go


def main():
    return run(json, os)
