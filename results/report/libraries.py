"""The scripts of a page: Vega with Vega-Lite and Vega-Embed, taken from vl-convert and kept, and the page's own."""

from __future__ import annotations

import base64
import hashlib
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

_VEGA_LITE = "6.4"
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


def vega(kept: Path | None) -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; making it takes seconds of work.

    Args:
        kept: the folder in which it is kept for the next page; None: it is not.
    """
    import vl_convert

    if kept is None:
        return vl_convert.javascript_bundle(_SNIPPET, vl_version=_VEGA_LITE)
    path = vega_file(kept)
    with suppress(OSError):
        return path.read_text(encoding="utf-8")
    script = vl_convert.javascript_bundle(_SNIPPET, vl_version=_VEGA_LITE)
    # A page needs no kept script: a home that cannot be written only costs the next one its seconds.
    with suppress(OSError):
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(script, encoding="utf-8")
        part.rename(path)
    return script


def vega_file(kept: Path) -> Path:
    """Return the file in which the script is kept; another version of vl-convert has another."""
    return kept / f"vega-{version('vl-convert-python')}-{_VEGA_LITE}.js"


@cache
def own(name: str) -> str:
    """Return a file that the page is made of."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def allowed(script: str) -> str:
    """Return the source by which a content security policy lets exactly this script run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def harmless(script: str) -> str:
    """Return a script that cannot end the element that it stands in; inside strings and patterns the same is meant."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
