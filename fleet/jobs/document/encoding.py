"""Encodings of source files, and text brought into them."""

from __future__ import annotations

import codecs
import unicodedata
from functools import cache

_SINGLE_BYTE = ("iso8859", "cp125", "koi8", "mac-", "tis-620", "hp-roman8", "kz1048", "ptcp154")
_PLAIN = {
    "\u2018": "'",
    "\u2019": "'",
    "\u201a": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "\u00ab": '"',
    "\u00bb": '"',
    "\u2010": "-",
    "\u2011": "-",
    "\u2012": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2015": "-",
    "\u2212": "-",
    "\u2022": "-",
    "\u00b7": "-",
    "\u00d7": "x",
    "\u2192": "->",
    "\u2190": "<-",
    "\u21d2": "=>",
    "\u2194": "<->",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\u00df": "ss",
    "\u00e6": "ae",
    "\u00f8": "o",
    "\u0142": "l",
    "\u2713": "yes",
}


@cache
def run_encoding(codec: str) -> str | None:
    """Return the encoding to write a run in, in a file of Python's codec ``codec``; None if no run is safe there.

    ASCII must mean itself. Where one character may take several bytes, and the codec is not UTF-8, the run stays in
    ASCII, whose bytes stand for themselves at the start of a line in all of these; encodings that switch with
    escapes are out.
    """
    try:
        name = codecs.lookup(codec).name
        same = bytes(range(128)).decode(codec) == "".join(map(chr, range(128)))
        if not same or "escape" in name or name.startswith("iso2022"):
            return None
    except Exception:  # a codec may raise anything: unknown, not a text encoding, cannot take these bytes
        return None
    if name in ("utf-8", "utf-8-sig"):
        return "utf-8"
    return name if name.startswith(_SINGLE_BYTE) else "ascii"


def read_run(run: bytes, encoding: str, newline: str) -> str | None:
    """Return a run as text with ``\\n`` for the file's ``newline``; None if it does not fit the file.

    It does not fit if it has another line end, bytes that the encoding cannot read, or UTF-8 in a file that is
    neither UTF-8 nor ASCII.
    """
    try:
        text = run.decode(encoding)
    except UnicodeDecodeError:
        return None
    if encoding not in ("ascii", "utf-8") and not run.isascii() and _is_utf8(run):
        return None
    if newline == "\r\n":
        if text.count("\n") != text.count("\r\n"):
            return None
        text = text.replace("\r\n", "\n")
    return None if "\r" in text else text


def _is_utf8(run: bytes) -> bool:
    try:
        run.decode()
    except UnicodeDecodeError:
        return False
    return True


def fitted(text: str, encoding: str) -> str | None:
    """Return ``text`` with every character that ``encoding`` lacks written plainly; None if one has no plain form."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = "".join(_plain(char, encoding) for char in text)
        return None if "\0" in plain else plain
    return text


def _plain(char: str, encoding: str) -> str:
    for form in (char, _PLAIN.get(char, ""), _decomposed(char)):
        try:
            form.encode(encoding)
        except UnicodeEncodeError:
            continue
        if form:
            return form
    return "\0"


def _decomposed(char: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFKD", char) if not unicodedata.combining(part))
