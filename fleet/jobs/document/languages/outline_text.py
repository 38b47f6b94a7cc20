"""Sentences out of documentation and comments: what may be quoted in a header, and where the first one ends."""

from __future__ import annotations

import re

LONGEST = 320
"""Characters of the longest sentence that is quoted; a longer one is no summary."""

_UNSAFE = re.compile(
    r"""\\|\*/|/\*|\"\"\"|'''|`{3}|>>>|<!--|-->|\ufffd|[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]
    |type:\s*ignore|noqa|eslint|[jt]slint|@ts-|pragma|coding\s*[:=]|istanbul|prettier|pylint|mypy:|fmt:\s*o|isort|ruff:|nosec
    |@generated|do\s+not\s+(edit|modify)|generated\s+by|copyright|sourceMappingURL|@flow|@jsx|@jest|@license|@preserve
    |-\*-|\bvim?:|@vite|\bgo:|webpack\w+:|<reference|\$\w+(:[^$]*)?\$""",
    re.IGNORECASE | re.VERBOSE,
)
_LICENCE = re.compile(
    r"copyright|licen[cs]e|\(c\)|©|all rights reserved|spdx|warranty|redistribut|permission is hereby|"
    r"terms and conditions|contributed (to|by)|written by|adapted from|\be-?mail:|\bat \w+ dot\b|\bauthors?:|"
    r"this file is distributed|as is",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(
    r"^\W*(@?[jt]slint|eslint|global\b|globals\b|@ts-|vim?:|-\*-|.*coding[:=]|pylint|flake8|mypy|type:|noqa|pragma|"
    r"istanbul|#?region|#?endregion|prettier|jshint|sourceMappingURL|<reference|@jest|@flow|fmt:|isort|ruff|nosec|"
    r"__PURE__|@__PURE__|webpack|\$\w+|noinspection\b|cython:|cspell:|[\w@/-]+:(disable|enable|ignore)\b)",
    re.IGNORECASE,
)
_ABOUT_PEOPLE = re.compile(r"^\W*(contact|e-?mail|url|web ?site|home ?page|maintainers?|file|version|date)\s*:", re.I)
_ADDRESS = re.compile(r"<?\b(https?://\S+|[\w.+-]{1,64}@[\w-]+\.[\w.]+)>?")
_CODE = re.compile(
    r"^\s*(import |from \w+ import|def |class \w+[(:]|if .*:$|for .*:$|return\b.*[;)]?$|print\b|const |"
    r"let |var |@\w+\(|[\w.\[\]'\"]+\s*(=|\+=|:=)\s*\S|[\w.]+\(.*\)[;,]?$|<\w+|[{}\[\]()]+[,;]?$)|;\s*$|[{(\[]\s*$"
)
_RULER = re.compile(r"[-=*#~_/]{3,}|^\W*(begin|end|start of|end of)\b", re.IGNORECASE)
_REMARK = re.compile(
    r"^\W*(todo|fixme|remove|xxx|hack|nb\b|note\b|bpo-?\d|issue ?#?\d|see\b|ref:|https?:|#\d|sf bug|gh-\d|bug )", re.I
)
_TASK = re.compile(r"\W*(?:TODO|FIXME|XXX|HACK|BUG|SAFETY)(?:\s*[:(]|\s*\.?$)")
_SIGNATURE_LINE = re.compile(r"^[\w.]+\([^)]*\)\s*(->.*|:|-+>?.*|=>.*)?$")
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\betc)(?<!\bMr)(?<!\bSt)(?<!\bno)(?<!\b[A-Z])(?<!\.)[.!?](?!\.)(?=[)\"'”]?(\s+[^a-z\s]|\s+https?:|\s*$))"
)
_LINK = re.compile(r"\{@\w+\s+([^}|\s(]+(?:\([^()]*\))?)(?:[\s|]+([^}]*))?\}")
_CODE_TAG = re.compile(r"\{@(?:code|literal)\s+([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_ROLE = re.compile(r":[\w:]+:`~?([^`<]+)(?:<[^`]*>)?`")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_MARKDOWN = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def is_safe(text: str) -> bool:
    """Return whether ``text`` can stand in a comment of any language and means nothing to a tool there."""
    return _UNSAFE.search(text) is None


def is_licence(text: str) -> bool:
    """Return whether a comment speaks of rights and authors and not of the code."""
    return _LICENCE.search(text) is not None


def is_directive(line: str) -> bool:
    """Return whether a comment line speaks to a tool."""
    return _DIRECTIVE.match(line) is not None


def is_prose(text: str) -> bool:
    """Return whether a comment's text is a sentence about code and neither code itself, a ruler nor a remark."""
    stripped = text.strip()
    letters = sum(ch.isalpha() or ch == " " for ch in stripped)
    if len(stripped) < 8 or " " not in stripped or letters < 0.72 * len(stripped):
        return False
    return not (_CODE.search(stripped) or _REMARK.match(stripped) or is_directive(stripped))


def plain(text: str) -> str:
    """Return ``text`` without the marks of reStructuredText, JSDoc links and HTML, on one line."""
    text = _CODE_TAG.sub(r"\1", text)
    text = _LINK.sub(lambda m: (m.group(2) or m.group(1).strip("#").replace("#", ".")).strip(), text)
    text = _ROLE.sub(lambda m: m.group(1).strip().lstrip("~!"), text)
    text = _MARKDOWN.sub(r"\1", text)
    if "</" in text or "<br" in text or "<p" in text:
        text = _TAG.sub("", text)
    text = text.replace("``", "`").replace("**", "")
    return " ".join(text.split())


def paragraphs(text: str) -> list[str]:
    """Split text at its blank lines; each paragraph keeps its line ends."""
    return [part.strip("\n") for part in re.split(r"\n[ \t]*\n", text.strip("\n")) if part.strip()]


def first_sentence(documentation: str) -> str:
    """Return the first sentence of a documentation text, ended by a full stop, or an empty string.

    A line that only repeats the signature is passed over. Nothing that `is_safe` refuses comes back.
    """
    for part in paragraphs(documentation)[:3]:
        lines = [line.strip() for line in part.splitlines()]
        while lines and (_SIGNATURE_LINE.match(lines[0]) or not any(ch.isalnum() for ch in lines[0])):
            lines.pop(0)
        cut = next((at for at, line in enumerate(lines) if _starts_block(line)), len(lines))
        if lines and _TASK.match(lines[0]):
            return ""
        if cut == 0:
            if lines and lines[0].startswith("@") and not lines[0].lower().startswith(("@desc", "@file", "@summary")):
                return ""
            if not lines:
                continue
            lines[0] = lines[0].split(None, 1)[1] if " " in lines[0] else ""
            cut = 1 if lines[0] else 0
        sentence = cut_sentence(plain(" ".join(lines[:cut])))
        if sentence:
            return sentence
    return ""


def _starts_block(line: str) -> bool:
    begins = ("@", ":param", ":return", ">>>", ".. ", "::", "```", "=====", "-----", "~~~~")
    return line.startswith(begins) or _TASK.match(line) is not None


def cut_sentence(text: str) -> str:
    """Return the first sentence of one line of prose, or an empty string when there is none that may be quoted."""
    cut = len(text)
    for found in _END.finditer(text):
        if _balanced(text[: found.end()]):
            cut = found.end()
            break
    sentence = re.sub(r"(?<!\.)\.\.$", ".", text[:cut].strip(" \t-*#=:;,/"))
    if sentence.startswith(('"', "'")) and sentence.count(sentence[0]) % 2:
        sentence = sentence[1:]
    if not sentence or len(sentence) > LONGEST or not is_safe(sentence) or not any(ch.isalpha() for ch in sentence):
        return ""
    if sentence[-1] in ".!?":
        return sentence
    return sentence + ("" if sentence.endswith((")", "'", '"', "”")) and sentence[-2:-1] in ".!?" else ".")


def _balanced(text: str) -> bool:
    return text.count("(") == text.count(")") and text.count("`") % 2 == 0 and text.count('"') % 2 == 0


def comment_sentence(text: str) -> str:
    """Return the first sentence of a comment above a symbol, or an empty string when it is not about the symbol.

    Headings of a section of the file, which stand above a symbol too, are mostly shorter than four words.
    """
    if is_licence(text) or _RULER.search(text):
        return ""
    sentence = first_sentence(text)
    return sentence if len(sentence.split()) > 3 and is_prose(sentence) else ""


def leading_prose(text: str) -> tuple[str, ...]:
    """Return the prose paragraphs of a file's first comments: licences, directives, names and remarks left out.

    Each is cleaned to one line; a first line that is only the file's own name is dropped.
    """
    kept = []
    for part in paragraphs(text):
        if is_licence(part) and len(part.splitlines()) > 3:
            continue
        part = "\n".join(line for line in part.splitlines() if not is_licence(line))
        lines = [line for line in (raw.strip() for raw in part.splitlines()) if line and not is_directive(line)]
        lines = [line for line in lines if any(ch.isalnum() for ch in line) and not _ABOUT_PEOPLE.match(line)]
        if lines and re.fullmatch(r"[\w./-]+\.\w{1,4}:?", lines[0]):
            lines = lines[1:]
        task = next((at for at, line in enumerate(lines) if _TASK.match(line)), len(lines))
        lines = lines[:task]
        if not any(ch.isalnum() for line in lines for ch in _ADDRESS.sub("", line)):
            continue
        if any(_CODE.search(line) for line in lines):
            continue
        line = re.sub(r"^[\w/.-]+\.\w{1,4}\s*[:–-]+\s+", "", plain(" ".join(lines)))
        if is_prose(line) and is_safe(line):
            kept.append(line)
    return tuple(kept)
