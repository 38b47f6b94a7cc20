"""What intents claim while agents work on them, so that no two intents work on the same at a time.

An intent takes all that it claims at once, when it is handed out. Whoever waits holds nothing, so two can never wait
for each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from qodebase.intent import Intent

Claim = tuple[str, str]
"""A path's text and the name of one of its symbols; an empty name is the whole path."""


def claims_of(intent: Intent) -> tuple[Claim, ...]:
    """Return the symbols that an intent names, and whole each path of its scope of which it names none.

    Where the change was made before the run there is nothing to keep others from.
    """
    if intent.given is not None:
        return ()
    named = [(path, name) for path, _, name in (symbol.partition("#") for symbol in intent.symbols)]
    paths = {path for path, _ in named}
    whole = [(path.text, "") for path in intent.scope if path.text not in paths]
    return tuple(dict.fromkeys((*named, *whole)))


class Claims:
    """Who holds what: of each claimed path the names, with the intents that hold them."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, str]] = {}
        self._of: dict[str, tuple[Claim, ...]] = {}

    def take(self, intent: Intent) -> str:
        """Hold all that an intent claims; where another holds some of it take nothing, and return that one's id."""
        claims = claims_of(intent)
        holder = next(self._holders(claims), "")
        if not holder:
            self._of[intent.id] = claims
            for path, name in claims:
                self._held.setdefault(path, {})[name] = intent.id
        return holder

    def _holders(self, claims: tuple[Claim, ...]) -> Iterator[str]:
        for path, name in claims:
            held = self._held.get(path)
            if held is None:
                continue
            if not name:
                yield next(iter(held.values()))
            elif name in held:
                yield held[name]
            elif "" in held:
                yield held[""]

    def release(self, intent: str) -> None:
        """Give back what an intent holds."""
        for path, name in self._of.pop(intent, ()):
            held = self._held[path]
            del held[name]
            if not held:
                del self._held[path]
