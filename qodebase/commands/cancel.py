"""`qodebase cancel`: end pending intents without landing them, in a live run and in a dead one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from qodebase.commands.support.console import Json, RunName, put, put_json, reporting
from qodebase.commands.support.layout import some
from qodebase.commands.support.ordering import TIMEOUT_S, Timeout
from qodebase.errors import QodebaseError

if TYPE_CHECKING:
    from qodebase.orders import Order
    from qodebase.ports import Prompt
    from qodebase.runs import RunFolder
    from qodebase.state import IntentState

BY_HAND = "cancelled by hand"


class NothingNamed(QodebaseError):
    """A cancel that does not say what, or says it twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """What became of a cancel, by intents.

    Attributes:
        order: its id.
        live: a process works on the run.
        cancelled: have ended so.
        under_way: end so where that is safe, or land if they are landing.
        ended: had ended otherwise, and how.
    """

    order: str
    live: bool
    cancelled: tuple[str, ...]
    under_way: tuple[str, ...]
    ended: dict[str, str]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    @reporting
    def cancel(
        run: RunName,
        intents: Annotated[
            list[str] | None, typer.Argument(metavar="[INTENT]...", help="Which: ids or paths of the code.")
        ] = None,
        everything: Annotated[bool, typer.Option("--all", help="Every intent that is pending.")] = False,
        reason: Annotated[str, typer.Option("--reason", help="Why, for the ledger.")] = BY_HAND,
        timeout: Timeout = TIMEOUT_S,
        json: Json = False,
    ) -> int:
        """End pending intents as cancelled, in a live run or a dead one.

        In a live run those under way end where it is safe: a call is cut off, a change leaves its lane, and one that is
        landing lands. Ends with 1 where an intent that was named had ended already.
        """
        from qodebase.commands.support.opening import find_run

        folder = find_run(run)
        found = cancel_intents(folder, intents or (), everything=everything, reason=reason, timeout_s=timeout)
        if json:
            put_json({"folder": str(folder.root), **asdict(found)})
        else:
            put(f"cancelled: {len(found.cancelled)} intents")
            if found.under_way:
                put(f"under way, end where it is safe: {some(found.under_way)}")
            if found.ended:
                put(f"had ended: {some([f'{intent} ({ending})' for intent, ending in found.ended.items()])}")
        return 1 if found.ended and not everything else 0


def cancel_intents(
    folder: RunFolder,
    names: Sequence[str],
    *,
    everything: bool = False,
    reason: str = BY_HAND,
    timeout_s: float = TIMEOUT_S,
) -> Cancelled:
    """End pending intents of a run as cancelled.

    Args:
        names: ids or paths; or ``everything`` that is pending.

    Raises:
        NothingNamed: neither, or both, or no reason.
        NoIntent: a name stands for no intent.
        NotTakenIn: a live process has not taken the order in so far.
    """
    from qodebase.intent import Ending
    from qodebase.orders import Order, What, new_id
    from results.run_data import RunData

    if bool(names) == everything or not reason.strip():
        raise NothingNamed(
            "which intents are to be cancelled?", hint="Name some, or give --all; a reason must not be empty."
        )
    before = RunData(folder).state.intents
    ids = _pending(before.values()) if everything else _named(before, names)
    order = Order(
        id=new_id(),
        what=What.CANCEL,
        intents=() if everything else tuple(ids),
        everything=everything,
        reason=reason.strip(),
    )
    if _pending(before[id] for id in ids):
        _give(folder, order, timeout_s=timeout_s)
    after = RunData(folder).state.intents
    endings = {id: after[id].ending for id in ids}
    return Cancelled(
        order=order.id,
        live=bool(folder.holder()),
        cancelled=tuple(id for id, ending in endings.items() if ending is Ending.CANCELLED),
        under_way=tuple(id for id, ending in endings.items() if ending is Ending.PENDING),
        ended={id: str(ending) for id, ending in endings.items() if ending not in (Ending.CANCELLED, Ending.PENDING)},
    )


def _named(states: dict[str, IntentState], names: Sequence[str]) -> list[str]:
    from qodebase.commands.support.intent_names import find_intents

    return list(dict.fromkeys(found.intent.id for name in names for found in find_intents(states, name)))


def _pending(states: Iterable[IntentState]) -> list[str]:
    from qodebase.intent import Ending

    return [state.intent.id for state in states if state.ending is Ending.PENDING]


def _give(folder: RunFolder, order: Order, *, timeout_s: float) -> None:
    """Give the order to the process that works on the run; where there is none, be that process for a moment."""
    from qodebase.commands.support.ordering import Courier
    from qodebase.runs import RunHeld

    courier = Courier(folder, order, timeout_s=timeout_s)
    while not courier.taken_in():
        holder = folder.holder()
        if holder and courier.wait(holder):
            return
        try:
            _sit_for(folder)
        except RunHeld:
            continue
        except BaseException:
            courier.given.remove()
            raise


def _sit_for(folder: RunFolder) -> None:
    """Take a sitting that admits nothing: journal and repository are brought together, and orders taken in."""
    from qodebase.commands.support.functions import made_model
    from qodebase.commands.support.worker import Worker

    async def nobody(prompt: Prompt) -> str:
        raise RuntimeError("a sitting that admits nothing asks nobody")

    worker = Worker(folder, first=False, limit=0, model=made_model(nobody))
    worker.join()
    worker.raise_failure()
