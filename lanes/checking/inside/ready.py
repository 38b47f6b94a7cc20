"""What pytest does alike at the start of every session, done once, before sessions are forked.

Functions of pytest's own are wrapped for this; in a version that lacks them, sessions only start slower.
"""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

_HOLDING = ("FixtureDef", "FixtureManager")
_ANSWERS = frozenset(("__dir__", "__getattr__"))


@contextmanager
def getting_ready(arguments: list[str]) -> Iterator[None]:
    """Learn from the session that is run meanwhile; the next one with these arguments at first starts faster."""
    from _pytest import config, fixtures

    configs = _Configs(config, arguments) if hasattr(config, "get_config") else None
    holders = _Holders(fixtures) if all(hasattr(fixtures, name) for name in _HOLDING) else None
    yield
    if configs is not None:
        configs.make()
    if holders is not None:
        holders.learned()


class _Configs:
    """Gives out a configuration with pytest's own plugins in it, made beforehand, the first time that it fits.

    Args:
        module: of pytest, with the function that makes configurations.
        arguments: those of the command line that all sessions have in front.
    """

    def __init__(self, module: Any, arguments: list[str]) -> None:
        self._module = module
        self._arguments = arguments
        self._really: Callable[..., Any] = module.get_config
        self._words: dict[str, Any] = {}
        self._made: Any = None
        module.get_config = self._get

    def make(self) -> None:
        """Make it, in the way of the session before."""
        made = self._really([*self._arguments], None, **self._words)
        self._made = made if hasattr(made, "invocation_params") else None

    def _get(self, args: Any = None, plugins: Any = None, **words: Any) -> Any:
        made, self._made = self._made, None
        if made is None:
            self._words = words
            return self._really(args, plugins, **words)
        self._module.get_config = self._really
        if words != self._words or not self._fits(args):
            return self._really(args, plugins, **words)
        made.invocation_params = type(made.invocation_params)(args=args, plugins=plugins, dir=Path.cwd())
        return made

    def _fits(self, args: Any) -> bool:
        """Return whether pytest's own plugins are the same with these arguments, and nobody watches them."""
        count = len(self._arguments)
        if not isinstance(args, list) or args[:count] != self._arguments or os.environ.get("PYTEST_DEBUG"):
            return False
        return not any(str(one).startswith("-p") for one in args[count:])


class _Holders:
    """Shows pytest, which looks at every name in a plugin, only those that are fixtures.

    Args:
        module: of pytest, with what manages fixtures.
    """

    def __init__(self, module: Any) -> None:
        self._definition: Any = module.FixtureDef
        self._manager: Any = module.FixtureManager
        self._define: Callable[..., None] = self._definition.__init__
        self._really: Callable[..., None] = self._manager.parsefactories
        self._defined = 0
        self._known: dict[int, _Holder] = {}
        self._definition.__init__ = self._counting()
        self._manager.parsefactories = self._putting(self._learn)

    def learned(self) -> None:
        """Show only what is known from now on."""
        self._definition.__init__ = self._define
        self._manager.parsefactories = self._putting(self._show)

    def _counting(self) -> Callable[..., None]:
        really = self._define

        def __init__(definition: Any, *words: Any, **more: Any) -> None:
            self._defined += 1
            really(definition, *words, **more)

        return __init__

    def _putting(self, parse: Callable[..., None]) -> Callable[..., None]:
        really = self._really

        def parsefactories(manager: Any, *words: Any, **more: Any) -> None:
            # A node alone tells of its own object.
            if "holder" in more:
                parse(lambda one: really(manager, *words, **{**more, "holder": one}), more["holder"])
            elif len(words) > 1:
                parse(lambda one: really(manager, one, *words[1:], **more), words[0])
            else:
                really(manager, *words, **more)

        return parsefactories

    def _learn(self, parse: Callable[[object], None], plugin: object) -> None:
        place = _place(plugin)
        names = sorted(vars(place)) if place is plugin else [""]
        shown = []
        for name in names:
            before = self._defined
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                parse(_part(place, [name]) if name else plugin)
            if told or self._defined > before:
                shown.append(name)
        if place is plugin or (place is not None and not shown):
            held = tuple(vars(place).values())
            self._known[id(place)] = _Holder(place, held, _part(place, shown) if shown else None)

    def _show(self, parse: Callable[[object], None], plugin: object) -> None:
        place = _place(plugin)
        known = self._known.get(id(place))
        if known is None or not known.is_as_it_was():
            parse(plugin)
        elif known.part is not None:
            parse(known.part)


class _Holder(NamedTuple):
    """What fixtures of a plugin are found in, all that it held, and what it is without others than fixtures."""

    place: Any
    held: tuple[object, ...]
    part: ModuleType | None

    def is_as_it_was(self) -> bool:
        """Return whether nothing was put into it since, or in the place of something."""
        now = vars(self.place).values()
        return len(now) == len(self.held) and all(map(operator.is_, now, self.held))


def _place(plugin: object) -> Any:
    """Return what fixtures of a plugin are found in: the module that it is, or its class; None: neither."""
    kind = type(plugin)
    if kind is ModuleType:
        return plugin if _ANSWERS.isdisjoint(vars(plugin)) else None
    return None if issubclass(kind, (type, ModuleType)) else kind


def _part(module: Any, names: list[str]) -> ModuleType:
    """Return a module with only some names of one."""
    part = ModuleType(module.__name__)
    vars(part).update((name, vars(module)[name]) for name in names)
    return part
