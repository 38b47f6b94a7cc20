"""Routes that both sides added to one table."""

from __future__ import annotations

import pytest

from replay_rules.routes import disjoint, route_of, rule
from tests.support.three_ways import content, inserted, why

LIST = b"urlpatterns = [\n    path('', home),\n]\n"
CALLS = b'app.get("/", home);\n\napp.listen(80);\n'


def test_disjoint_routes_of_a_list_are_both_kept() -> None:
    main, change = b"    path('a/<int:n>/', a),\n", b"    path('b/', b),\n"
    assert content(rule(inserted(LIST, b"]", main, change))) == LIST.replace(b"]", main + change + b"]")


def test_disjoint_routes_of_statements_are_both_kept() -> None:
    main, change = b'app.get("/a/:id", a);\n', b'app.post("/a/:id", b);\n'
    got = content(rule(inserted(CALLS, b"\napp.listen", main, change, b"s.js")))
    assert got == CALLS.replace(b"\napp.listen", main + change + b"\napp.listen")


@pytest.mark.parametrize(
    ("main", "change"),
    [
        (b"    path('a/', a),\n", b"    path('a/', b),\n"),
        (b"    path('a/', a),\n", b"    path('<slug:s>/', b),\n"),
        (b"    path('a/', include(x)),\n", b"    path('a/b/', b),\n"),
        (b"    re_path('^a', a),\n", b"    path('b/', b),\n"),
        (b"    a,\n", b"    path('b/', b),\n"),
    ],
)
def test_routes_that_may_overlap_are_declined(main: bytes, change: bytes) -> None:
    assert why(rule(inserted(LIST, b"]", main, change)))


def test_two_routes_are_disjoint_where_a_literal_segment_differs() -> None:
    def apart(one: bytes, other: bytes) -> bool:
        first, second = route_of(one), route_of(other)
        assert first is not None
        assert second is not None
        return disjoint(first, second)

    assert apart(b'app.get("/a/x")', b'app.get("/b/x")')
    assert apart(b'app.get("/:id/x")', b'app.get("/:id/y")')
    assert apart(b'app.get("/a")', b'app.post("/a")')
    assert not apart(b'app.get("/a")', b'app.route("/a")')
    assert not apart(b'app.get("/:a")', b'app.get("/b")')
    assert not apart(b'app.get("/a")', b'app.get("/a/b")')
