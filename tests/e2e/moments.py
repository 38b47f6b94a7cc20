"""Run qodebase and send this process a signal at exact moments: ``python moments.py MOMENT[,MOMENT...] WORD...``.

A MOMENT is ``SIGNAL@WHEN:WHAT:COUNT``. WHAT is the kind of an event, ``ref`` (a ref that the trunk moves: the notes'
and then main's, for each step), ``pushing`` or ``compacting``; WHEN is before or after it, or ``torn``: half of the
event's line is in the journal. Instead of a signal, ``PAUSE`` and ``CANCEL`` (of all that is pending) are orders to the
run ``one``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from qodebase.cli import main
from qodebase.journal import Journal
from qodebase.orders import Order, Orders, What, new_id
from qodebase.trunk.landing import Trunk
from qodebase.trunk.refs import RefLock
from qodebase.trunk.remote import Remote

_seen: Counter[str] = Counter()
_moments: dict[tuple[str, str, int], str] = {}


def _reached(when: str, what: str) -> None:
    name = _moments.get((when, what, _seen[what]), "")
    if name in What.__members__:
        Orders(Path("one")).give(Order(id=new_id(), what=What[name], everything=name == "CANCEL", reason="enough"))
    elif name:
        os.kill(os.getpid(), signal.Signals[name])


def _around(owner: Any, method: str, what: str) -> None:
    inner = getattr(owner, method)

    def outer(*args: Any, **fields: Any) -> Any:
        named = what or args[1].__struct_config__.tag
        _seen[named] += 1
        if ("torn", named, _seen[named]) in _moments:
            os.write(args[0]._descriptor, b'{"kind":"' + named.encode())
            _reached("torn", named)
        _reached("before", named)
        result = inner(*args, **fields)
        _reached("after", named)
        return result

    setattr(owner, method, outer)


if __name__ == "__main__":
    for moment in filter(None, sys.argv.pop(1).split(",")):
        name, _, rest = moment.partition("@")
        when, what, count = rest.split(":")
        _moments[when, what, int(count)] = name
    _around(Journal, "write", "")
    _around(RefLock, "move", "ref")
    _around(Trunk, "compact", "compacting")
    _around(Remote, "push", "pushing")
    # Who runs the tests may have it ignored, as `nohup` does.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    main()
