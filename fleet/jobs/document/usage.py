"""Who uses a file in its tree, from the imports of all its files; no build settings are read."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fleet.jobs.document.languages import language_of
from fleet.jobs.document.languages.outline import Import, Kind, Outline, public_names

_SUFFIXES = (b".js", b".mjs", b".cjs", b".jsx", b".ts", b".mts", b".cts", b".tsx", b".d.ts", b".json", b".vue")
_COMPILED = {b".js": (b".ts", b".tsx", b".d.ts"), b".mjs": (b".mts",), b".cjs": (b".cts",), b".jsx": (b".tsx",)}
_PACKAGE = (b"__init__.py", b"__init__.pyi")

_Finder = Callable[[str], "bytes | None"]
_Resolver = Callable[[bytes, Import], Iterator[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A file that another one imports: what it says of itself, its first public names, and what it registers."""

    path: bytes
    summary: str = ""
    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The imports inside of one tree, both ways; files that no file of the tree imports are in neither map."""

    importers: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    imported: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)
    neighbours: Mapping[bytes, Neighbour] = field(default_factory=dict)
    folders: Mapping[bytes, tuple[bytes, ...]] = field(default_factory=dict)

    def used_by(self, path: bytes) -> tuple[bytes, ...]:
        """Return the files that import ``path``, sorted by bytes, itself left out."""
        return self.importers.get(path, ())

    def uses(self, path: bytes) -> tuple[Neighbour, ...]:
        """Return the files of the tree that ``path`` imports, in the order of its imports."""
        return tuple(self.neighbours[one] for one in self.imported.get(path, ()) if one in self.neighbours)

    def siblings(self, path: bytes) -> tuple[bytes, ...]:
        """Return the names of what lies beside a file, sorted: files with a suffix, folders that hold files without."""
        folder, _, name = path.rpartition(b"/")
        return tuple(one for one in self.folders.get(folder, ()) if one != name)


def usage_of(outlines: Mapping[bytes, Outline], paths: Iterable[bytes] = ()) -> Usage:
    """Return who imports whom among the files of a tree.

    Args:
        outlines: the outline of every file that could be read.
        paths: files without an outline that may be imported all the same.
    """
    every = frozenset(outlines) | frozenset(paths)
    modules = _Modules(every)
    others = dict.fromkeys(("javascript", "typescript"), _ecmascript(every))
    by_path = _Tails(every).resolve
    imported: dict[bytes, tuple[bytes, ...]] = {}
    importers: dict[bytes, set[bytes]] = {}
    for path, outline in outlines.items():
        resolve = modules.resolve if outline.language == "python" else others.get(outline.language, by_path)
        found = dict.fromkeys(target for one in outline.imports for target in resolve(path, one) if target != path)
        if found:
            imported[path] = tuple(found)
        for target in found:
            importers.setdefault(target, set()).add(path)
    return Usage(
        importers={path: tuple(sorted(users)) for path, users in importers.items()},
        imported=imported,
        neighbours={path: _neighbour(path, outlines[path]) for path in importers if path in outlines},
        folders=_folders(every),
    )


def _folders(paths: Iterable[bytes]) -> dict[bytes, tuple[bytes, ...]]:
    held: dict[bytes, set[bytes]] = {}
    for path in paths:
        folder, _, name = path.rpartition(b"/")
        known = folder in held
        held.setdefault(folder, set()).add(name)
        while folder and not known:
            folder, _, name = folder.rpartition(b"/")
            known = folder in held
            held.setdefault(folder, set()).add(name)
    return {folder: tuple(sorted(names)) for folder, names in held.items()}


def _neighbour(path: bytes, outline: Outline) -> Neighbour:
    names = public_names(outline)
    first = next((one for one in names if one.summary and one.kind is not Kind.CONSTANT), None)
    only = "" if first is None else first.summary if len(names) == 1 else f"{first.name}: {first.summary}"
    leading = outline.leading[0] if outline.leading and len(outline.leading[0]) < 160 else ""
    registered = [name for call in outline.calls for name in call.arguments if name.isidentifier()]
    labels = [symbol.label for symbol in outline.symbols if symbol.label]
    return Neighbour(
        path=path,
        summary=outline.documentation or leading or only,
        names=tuple(one.name for one in names[:4]),
        labels=tuple(dict.fromkeys(labels or (registered if not names else ())))[:5],
    )


class _Modules:
    """The Python modules of a tree by dotted name, for each folder that could be on the import path."""

    def __init__(self, paths: frozenset[bytes]) -> None:
        self.paths = paths
        self.folders = {path.rpartition(b"/")[0] for path in paths if path.endswith(_PACKAGE)}
        self.by_name: dict[str, list[bytes]] = {}
        for path in sorted(paths):
            if path.endswith((b".py", b".pyi", b".pyw")):
                for name in self._names(path):
                    self.by_name.setdefault(name, []).append(path)

    def _names(self, path: bytes) -> Iterator[str]:
        """Yield the dotted names under which a file may be imported: from its package's root, and from the top."""
        folder, _, name = path.rpartition(b"/")
        parts = folder.split(b"/") if folder else []
        if name not in _PACKAGE:
            parts = [*parts, name.rpartition(b".")[0]]
            root = len(parts) - 1
        else:
            root = max(len(parts) - 1, 0)
        while root > 0 and b"/".join(parts[:root]) in self.folders:
            root -= 1
        for start in sorted({0, root}):
            dotted = b".".join(parts[start:]).decode(errors="replace")
            if dotted:
                yield dotted

    def resolve(self, path: bytes, one: Import) -> Iterator[bytes]:
        """Yield the files that an import statement reads: submodules named in it, else the module itself."""
        dots = len(one.module) - len(one.module.lstrip("."))
        rest = one.module.lstrip(".")
        if dots:
            folder = path.rpartition(b"/")[0]
            for _ in range(dots - 1):
                folder = folder.rpartition(b"/")[0]
            base = posixpath.join(folder, rest.replace(".", "/").encode(errors="replace")).rstrip(b"/")
            yield from self._with_names(one.names, lambda more: self._file(base, more))
        else:
            yield from self._with_names(one.names, lambda more: self._module(path, rest, more))

    def _with_names(self, names: tuple[str, ...], find: _Finder) -> Iterator[bytes]:
        whole = not names
        for name in names:
            found = None if name == "*" else find(name)
            if found is None:
                whole = True
            else:
                yield found
        if whole and (found := find("")) is not None:
            yield found

    def _file(self, base: bytes, more: str) -> bytes | None:
        place = posixpath.join(base, more.encode(errors="replace")) if more else base
        candidates = [place + b".py", place + b".pyi"] if place else []
        candidates += [posixpath.join(place, name) for name in _PACKAGE]
        return next((one for one in candidates if one in self.paths), None)

    def _module(self, path: bytes, dotted: str, more: str) -> bytes | None:
        name = f"{dotted}.{more}" if more else dotted
        folder = path.rpartition(b"/")[0]
        if folder not in self.folders and (beside := self._file(folder, name.replace(".", "/"))) is not None:
            return beside
        found = self.by_name.get(name)
        if not found:
            return None
        return max(found, key=lambda one: (len(posixpath.commonpath([b"/" + one, b"/" + path])), -len(one)))


class _Tails:
    """The files of a tree by their names, for languages whose imports tell a path or the end of one."""

    def __init__(self, paths: frozenset[bytes]) -> None:
        self.paths = paths
        self.by_name: dict[bytes, list[bytes]] = {}
        for path in sorted(paths):
            self.by_name.setdefault(path.rpartition(b"/")[2], []).append(path)

    def resolve(self, path: bytes, one: Import) -> Iterator[bytes]:
        """Yield the file that an import names: the language's first path that stands, the nearest of several."""
        language = language_of(path)
        for wanted in language.imported_paths(path, one) if language is not None else ():
            found = [wanted] if wanted in self.paths else self._ending(wanted)
            if found:
                yield max(found, key=lambda other: len(posixpath.commonprefix([other, path])))
                return

    def _ending(self, wanted: bytes) -> list[bytes]:
        if not wanted.startswith(b"/"):
            return []
        named = self.by_name.get(wanted.rpartition(b"/")[2], [])
        return [other for other in named if (b"/" + other).endswith(wanted)]


def _ecmascript(paths: frozenset[bytes]) -> _Resolver:
    def resolve(path: bytes, one: Import) -> Iterator[bytes]:
        module = one.module.partition("?")[0].encode(errors="replace")
        if module.startswith(b"."):
            place = posixpath.normpath(posixpath.join(path.rpartition(b"/")[0], module))
        elif module.startswith(b"/"):
            place = module.lstrip(b"/")
        else:
            place = module
        if (found := _script(place, paths)) is not None:
            yield found

    return resolve


def _script(place: bytes, paths: frozenset[bytes]) -> bytes | None:
    if place in paths:
        return place
    for suffix in _SUFFIXES:
        if place + suffix in paths:
            return place + suffix
    stem, dot, suffix = place.rpartition(b".")
    for other in _COMPILED.get(dot + suffix, ()):
        if stem + other in paths:
            return stem + other
    for suffix in _SUFFIXES:
        if posixpath.join(place, b"index" + suffix) in paths:
            return posixpath.join(place, b"index" + suffix)
    return None
