"""The facts of one file, gathered once for everything that writes about it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from fleet.jobs.document.describe_symbols import merged
from fleet.jobs.document.describe_words import capital, listed, module_name, safe, words
from fleet.jobs.document.languages.outline import Kind, Outline, Symbol
from fleet.jobs.document.usage import Neighbour

_DULL_MODULES = {
    *("__future__", "typing", "typing_extensions", "os", "sys", "re", "types", "collections.abc", "warnings"),
    *("unittest", "test", "test.support", "tslib", "time", "logging", "pytest"),
    *("fmt", "errors", "strings", "context", "testing", "sync", "bytes", "strconv", "std::fmt", "super", "crate"),
    *("assert.h", "errno.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "string", "vector", "memory"),
    *("cstddef", "cstdint", "utility", "System", "System.Collections.Generic", "System.Linq", "System.Text"),
    *("Foundation", "XCTest", "java.util", "java.io", "org.junit", "org.junit.jupiter.api", "kotlin.test", "set"),
}
_DULL_FOLDERS = {
    *("src", "lib", "libs", "esm", "cjs", "dist", "out", "vs", "js", "ts", "internal", "common", "browser", "base"),
    *("main", "app", "packages", "modules", "source", "code", "core", "static", "scripts", "public", "contrib"),
}


_SCRIPTS = ("javascript", "typescript")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A file as its describers see it.

    ``shown`` are the symbols worth showing, each name once, in source order; ``area`` says where the file belongs
    (" of the editor"), or is empty; ``main_symbol`` is what the file is about;
    ``recipe`` marks a file that all its kind begin with the same imports (a migration).
    """

    path: bytes
    outline: Outline
    used_by: tuple[bytes, ...]
    uses: tuple[Neighbour, ...]
    siblings: tuple[bytes, ...]
    python: bool
    stem: str
    folder: str
    package: str
    title: str
    area: str
    shown: tuple[Symbol, ...]
    main_symbol: Symbol | None
    builds_on: tuple[str, ...]
    recipe: bool

    @property
    def script(self) -> bool:
        """Return whether the file is JavaScript or TypeScript."""
        return self.outline.language in _SCRIPTS


def facts_of(
    path: bytes,
    outline: Outline,
    used_by: tuple[bytes, ...],
    uses: tuple[Neighbour, ...],
    siblings: tuple[bytes, ...] = (),
) -> Facts:
    """Gather the facts of one file."""
    python = outline.language == "python"
    folder, name = posixpath.split(path.decode(errors="replace"))
    stem = re.sub(r"(\.d)?\.\w+$", "", name)
    package = module_name(folder.encode(errors="replace")) if python and folder else folder
    symbols = merged(outline.symbols)
    shown = [symbol for symbol in symbols if symbol.public]
    shown = shown or [symbol for symbol in symbols if not symbol.name.startswith("__")]
    main = _main_symbol(shown, stem, folder)
    return Facts(
        path=path,
        outline=outline,
        used_by=used_by,
        uses=uses,
        siblings=siblings,
        python=python,
        stem=stem,
        folder=folder,
        package=package,
        title=_title(stem, folder, package, python=python),
        area=_area(main.name if main else stem, folder, package, python=python),
        shown=tuple(shown),
        main_symbol=main,
        builds_on=_builds_on(outline),
        recipe=python and any(base.endswith("Migration") for symbol in outline.symbols for base in symbol.bases),
    )


def _title(stem: str, folder: str, package: str, *, python: bool) -> str:
    last = posixpath.basename(folder)
    if stem == "__init__":
        return f"Package {package}" if package else "Package"
    if stem == "index":
        return f"Entry point of {last or 'the package'}"
    if stem in ("mod", "lib") and last:
        return f"Module {last}"
    name = capital(words(stem)) or stem
    return f"{name}{_area(stem, folder, package, python=python)}"


def _area(name: str, folder: str, package: str, *, python: bool) -> str:
    if python:
        return f" of {package}" if package else ""
    known = words(name).lower()
    for part in reversed(folder.split("/")):
        said = words(part)
        if not said or part.lower() in _DULL_FOLDERS:
            continue
        if said.lower() in known or said.lower().rstrip("s") in known:
            return ""
        return f" of {part}" if part == said else f" of the {said}"
    return ""


def _main_symbol(shown: list[Symbol], stem: str, folder: str) -> Symbol | None:
    """Return the symbol that a file is about: the one named like it, or the only one."""
    real = [symbol for symbol in shown if symbol.kind is not Kind.CONSTANT]
    about = posixpath.basename(folder) if stem in ("index", "__init__") else stem
    wanted = re.sub(r"\W|_", "", about).lower()
    named = [symbol for symbol in real if symbol.name.replace("_", "").lower() == wanted]
    if named:
        return named[0]
    if len(real) == 1:
        return real[0]
    return shown[0] if len(shown) == 1 else None


def _builds_on(outline: Outline) -> tuple[str, ...]:
    """Return the modules that matter most to a file: those of its base classes first, then the others in order."""
    bases = {base.split(".")[0] for symbol in outline.symbols for base in symbol.bases}
    script = outline.language in _SCRIPTS
    first, rest, dull = [], [], []
    for module, names in _by_module(outline).items():
        name = re.sub(r"\.(js|mjs|ts)$", "", posixpath.basename(module)) if script else module
        if module.endswith((".css", ".scss")) or module == "__future__":
            continue
        if not name.strip("."):
            name, names = name + names[0] if names else name, names[1:]
        if module in _DULL_MODULES:
            dull.append(name)
            continue
        shown = safe([one for one in names if one != "*"])
        text = f"{name} ({listed(shown, 3)})" if shown and shown != [name] else name
        if bases & set(names) or module in bases:
            first.append(text)
        elif names or not script:
            rest.append(text)
    return tuple(safe([*first, *rest] or dull))


def _by_module(outline: Outline) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in outline.imports:
        found.setdefault(one.module, []).extend(one.names)
    return found
