"""Files as text: what the job can edit, and the form that an edited file keeps."""

from __future__ import annotations

from dataclasses import dataclass

from qodebase.change import EXECUTABLE, REGULAR, SUBMODULE, SYMLINK
from qodebase.collision import Entry

_BOM = b"\xef\xbb\xbf"
_KINDS = {SYMLINK: "a symbolic link", SUBMODULE: "a submodule"}


class NoText(ValueError):
    """Content that is no text which could be edited and keep its form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How a text is stored: its line ends, whether it begins with a mark, whether its last line ends.

    >>> form, text = read(b"one\\r\\ntwo")
    >>> text, form.stored("one\\nand two\\n")
    ('one\\ntwo', b'one\\r\\nand two')
    """

    crlf: bool = False
    mark: bool = False
    ends: bool = True

    def stored(self, text: str) -> bytes:
        """Return a text, with plain line ends, in this form.

        Raises:
            NoText: no file can hold it.
        """
        if "\0" in text:
            raise NoText("it holds a NUL, so it is binary")
        plain = text.replace("\r\n", "\n").removeprefix("\ufeff")
        plain = plain.removesuffix("\n") if not self.ends else plain
        plain += "\n" if self.ends and plain and not plain.endswith("\n") else ""
        try:
            content = plain.encode()
        except UnicodeEncodeError:
            raise NoText("it holds characters that UTF-8 cannot hold") from None
        return (_BOM if self.mark else b"") + (content.replace(b"\n", b"\r\n") if self.crlf else content)


NEW = Form()
"""The form of a file that is made."""


def read(content: bytes) -> tuple[Form, str]:
    """Return the form of a file, and its text with plain line ends.

    Raises:
        NoText: it is binary, no UTF-8, its line ends are mixed, or its form would not give it back.
    """
    if b"\0" in content:
        raise NoText("binary")
    crlf = content.count(b"\r\n")
    if crlf and crlf != content.count(b"\n"):
        raise NoText("mixed line ends")
    try:
        text = content.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        raise NoText("no UTF-8 text") from None
    form = Form(crlf=bool(crlf), mark=content.startswith(_BOM), ends=content.endswith(b"\n") or not content)
    plain = text.replace("\r\n", "\n")
    if form.stored(plain) != content:
        raise NoText("odd line ends or beginning")
    return form, plain


def shown(content: bytes) -> str:
    """Return a file's text with plain line ends, whatever it is; what is no UTF-8 has signs in its place."""
    return content.removeprefix(_BOM).decode(errors="replace").replace("\r\n", "\n")


def fault_of_entry(entry: Entry | None) -> str:
    """Return why what stands at a path cannot be edited as a file, or the empty text."""
    if entry is None or entry.mode in (REGULAR, EXECUTABLE):
        return ""
    return _KINDS.get(entry.mode, "no file")


def fault_of_form(before: bytes, after: bytes) -> str:
    """Return why an edited file has not kept its form, or the empty text."""
    try:
        was, _ = read(before)
        now, text = read(after)
    except NoText as error:
        return f"is not text any more: {error}"
    if text and (was.mark, was.ends) != (now.mark, now.ends) and before:
        return "has another beginning or end of the file"
    return "has other line ends" if before.count(b"\n") and b"\n" in after and was.crlf != now.crlf else ""
