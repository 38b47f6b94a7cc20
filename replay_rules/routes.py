"""Rule ``routes``: entries that both sides added to a route table, where no path can be meant by both.

A route is ``path("a/b", ...)`` in a list, ``app.get("/a", ...)`` as a statement, or a decorator like
``@app.route("/a")``. Invariant: some segment of the two paths is literal in both and differs, or the two answer
different methods of one path, so whichever is asked first, the same one answers.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from qodebase.collision import Collision, Declined, Resolved
from replay_rules.commuting import additions, arranged
from replay_rules.parsing import Parsed
from replay_rules.parts import Item
from replay_rules.places import Place, Policy, Region
from replay_rules.weave import weave

APPLIES = ("*.py", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts")
ORDER = 230

_METHODS = frozenset({b"get", b"post", b"put", b"delete", b"patch", b"head", b"options"})
_ROUTE = re.compile(
    rb"@?\s*(?:[\w.]+\.)?(get|post|put|delete|patch|head|options|route|api_route|websocket|path|add_url_rule|add_route|Route)"
    rb"\(\s*(?P<quote>[\"'])(?P<path>[^\"'\\\n]*)(?P=quote)"
)
_REGISTERS = re.compile(
    rb"@\s*([\w.]+)\(\s*(?:(?P<quote>[\"'])(?P<text>[^\"'\\\n]*)(?P=quote)|(?P<word>[A-Za-z_][\w.]*)\s*[,)])"
)
_HARMLESS = re.compile(rb"mark\.|\b(?:skip|patch|wraps|lru_cache|retry|raises|require|given|usefixtures)|[Ss]kip")
"""Decorators whose argument is no key that one function alone may bear."""
_NAMED = re.compile(rb"\b(?:name|endpoint)\s*[=:]\s*([\"'][^\"'\n]*[\"'])")
_VERB = re.compile(rb"\)\s*\.\s*(?:get|post|put|delete|patch|head|options|all)\(")
_LITERAL = re.compile(rb"[\w.~-]+")


class Route(NamedTuple):
    """A path by segments, and the method where the call names one."""

    method: bytes
    segments: tuple[bytes, ...]


def rule(collision: Collision) -> Resolved | Declined:
    r"""Keep both sides' disjoint routes.

    >>> from qodebase.collision import Side
    >>> from qodebase.paths import RepoPath
    >>> base = b"urlpatterns = [\n    path('', home),\n]\n"
    >>> a, b = b"    path('a/', a),\n", b"    path('b/<int:n>', b),\n"
    >>> sides = [Side(content=base.replace(b"]", text + b"]")) for text in (b"", a, b)]
    >>> result = rule(Collision(path=RepoPath(b"urls.py"), base=sides[0], main=sides[1], change=sides[2]))
    >>> result.content == base.replace(b"]", a + b + b"]")
    True
    """
    return weave(collision, POLICIES)


def disjoint_routes(place: Place, region: Region) -> tuple[Item, ...] | Declined:
    """Return both sides' routes where every pair of them is disjoint."""
    if place.role not in ("list", "body"):
        return Declined(why="no place for routes")
    found = additions(place, region)
    if isinstance(found, Declined):
        return found
    for one in found.main:
        for other in found.change:
            mine, theirs = route_of(one.text), route_of(other.text)
            if mine is None or theirs is None:
                return Declined(why="not all of them are routes: model")
            if not disjoint(mine, theirs):
                return Declined(why="the routes of both sides may overlap: model")
            if set(_NAMED.findall(one.text)) & set(_NAMED.findall(other.text)):
                return Declined(why="the routes of both sides bear one name: model")
            if _VERB.search(one.text) or _VERB.search(other.text):
                return Declined(why="a statement holds several routes: model")
    return arranged(place, region, found)


def route_of(text: bytes) -> Route | None:
    """Read a route from the beginning of an item's text."""
    found = _ROUTE.match(text.strip())
    if found is None or (
        found[0].startswith(b"@") is False and b"." not in found[0].partition(b"(")[0] and found[1] in _METHODS
    ):
        return None
    method = found[1] if found[1] in _METHODS else b""
    return Route(method, tuple(found["path"].strip(b"/").split(b"/")))


def disjoint(one: Route, other: Route) -> bool:
    """Return whether no request can be meant by both routes."""
    methods = {one.method, other.method}
    if b"" not in methods and len(methods) > 1 and methods != {b"get", b"head"}:
        return True
    for mine, theirs in zip(one.segments, other.segments, strict=False):
        plain = _LITERAL.fullmatch(mine) and _LITERAL.fullmatch(theirs)
        if not plain:
            continue
        if mine.lower() != theirs.lower():
            return True
    return False


def clash(left: Parsed, one: Item, right: Parsed, other: Item) -> str:
    """Return why two decorated definitions may not stand in any order, or the empty text."""
    for mine in _decorators(left, one):
        for theirs in _decorators(right, other):
            routes = route_of(mine), route_of(theirs)
            if routes[0] is not None and routes[1] is not None:
                if not disjoint(routes[0], routes[1]):
                    return "the routes of both sides may overlap: model"
                if set(_NAMED.findall(mine)) & set(_NAMED.findall(theirs)):
                    return "the routes of both sides bear one name: model"
                continue
            first, second = _REGISTERS.match(mine), _REGISTERS.match(theirs)
            if first and second and first[1] == second[1] and _HARMLESS.search(first[1]) is None:
                keys = [one["text"] or one["word"] for one in (first, second)]
                if keys[0] == keys[1]:
                    return "both sides register under one name: model"
    return ""


def _decorators(parsed: Parsed, item: Item) -> list[bytes]:
    if item.node is None or item.node.type != "decorated_definition":
        return []
    return [parsed.text(child) for child in item.node.named_children if child.type == "decorator"]


POLICIES = (Policy(region=disjoint_routes),)
