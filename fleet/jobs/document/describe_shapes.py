"""Kinds of files that have a shape of their own, each with its describer; the first that fits writes the header."""

from __future__ import annotations

from fleet.jobs.document import describe_django as django
from fleet.jobs.document import describe_packages as packages
from fleet.jobs.document import describe_scripts as scripts
from fleet.jobs.document.describe_facts import Facts
from fleet.jobs.document.describe_words import Text

_SHAPES = (
    *(django.migration, django.formats, django.command, django.routes),
    *(scripts.language, packages.package, scripts.passed_on, scripts.registration, scripts.loader, scripts.bundle),
)


def shaped(facts: Facts) -> Text | None:
    """Return the header of a file that has one of the known shapes, or None."""
    return next((text for shape in _SHAPES if (text := shape(facts)) is not None), None)
