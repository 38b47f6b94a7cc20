"""Which checks a test belongs to, where several checks are run in one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Selections:
    """The selections of several checks, each known by its number.

    Args:
        checks: the selections of each check, paths or node ids of pytest.
    """

    def __init__(self, checks: Sequence[Sequence[str]]) -> None:
        self.checks = [[one.rstrip("/") for one in selected] for selected in checks]
        self._whole: dict[str, set[int]] = {}
        self._by_path: dict[str, set[int]] = {}
        self._chosen: dict[str, dict[str, set[int]]] = {}
        for number, selected in enumerate(self.checks):
            for one in selected:
                self._whole.setdefault(one, set()).add(number)
                self._by_path.setdefault(one.partition("::")[0], set()).add(number)

    @property
    def paths(self) -> list[str]:
        """Return every path that is selected or of which something is, once each."""
        return list(self._by_path)

    @property
    def one_file(self) -> bool:
        """Return whether everything selected lies in one and the same file."""
        return len(self._by_path) == 1 and self.paths[0].endswith(".py")

    def chosen(self, test: str) -> dict[str, set[int]]:
        """Return the selections that hold a test, each with the checks that name it."""
        known = self._chosen.get(test)
        if known is None:
            self._chosen[test] = known = {one: self._whole[one] for one in _names_of(test) if one in self._whole}
        return known

    def around(self, path: str) -> set[int]:
        """Return the checks that select a file, something in it, or a folder above it."""
        return set().union(*(self._by_path.get(one, ()) for one in _folders_of(path)))


def _names_of(test: str) -> Iterator[str]:
    """Yield a test's id, that of the function without its parameters, of what holds it, and of the folders above."""
    yield test
    name = test.partition("[")[0]
    while name:
        if name != test:
            yield name
        if "::" not in name:
            break
        name = name.rpartition("::")[0]
    yield from _folders_of(name.rpartition("/")[0])


def _folders_of(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
