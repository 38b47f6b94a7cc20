"""Results of pure functions of a content, kept while they are likely to be asked for again.

Rules, invariants and audits ask the same of the same few versions of a file one after the other: main as it is, what it
was a landing ago, a change, their merge.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def kept(most_bytes: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep the newest results of a function of hashable arguments, among them contents, when given by position.

    Args:
        most_bytes: of all contents together whose results are kept; results of larger ones are not.

    >>> @kept(most_bytes=10)
    ... def length(language: str, content: bytes) -> int:
    ...     print("counted")
    ...     return len(content)
    >>> length("python", b"abc"), length("python", b"abc")
    counted
    (3, 3)
    """

    def keep(function: Callable[P, R]) -> Callable[P, R]:
        results: OrderedDict[object, R] = OrderedDict()
        held = 0
        lock = threading.Lock()

        @wraps(function)
        def asked(*args: P.args, **kwargs: P.kwargs) -> R:
            nonlocal held
            if kwargs:
                return function(*args, **kwargs)
            with lock:
                if args in results:
                    results.move_to_end(args)
                    return results[args]
            result = function(*args, **kwargs)
            weight = _weight(args)
            if weight <= most_bytes:
                with lock:
                    held += 0 if args in results else weight
                    results[args] = result
                    while held > most_bytes:
                        held -= _weight(results.popitem(last=False)[0])
            return result

        return asked

    return keep


def _weight(args: object) -> int:
    return sum(len(one) for one in args if isinstance(one, bytes)) if isinstance(args, tuple) else 0
