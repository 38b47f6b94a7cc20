"""The answer cache: answers on disk, by model, settings and prompt, shared by runs.

It is a diskcache whose rows hold text only. A row with anything else (a pickle, the name of a file) was not written
here: such rows run code or reach any file in plain diskcache (CVE-2025-69872), so they are never decoded, and count
as missing. Nothing is evicted. One thread does all I/O; it is handed what one turn of the loop asks for together, and
what waits for it while it works is done in one go.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import queue
import threading
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from qodebase.codec import JSON, json_decoder
from qodebase.errors import QodebaseError
from qodebase.ports import Answer, Clock
from qodebase.private_files import make_private, private

_VERSION = "1"
_BATCH = 1000
_TIMEOUT_S = 30.0


class CacheFailed(QodebaseError):
    """A cache that cannot be read or written."""


class _Request(NamedTuple):
    """One read (``text`` None) or write, and who waits for it."""

    key: str
    text: str | None
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


def answer_key(scope: str, prompt_digest: str) -> str:
    """Return the key of an answer: 64 hex digits of the model's scope and the prompt."""
    return hashlib.sha256(f"{_VERSION}\0{scope}\0{prompt_digest}".encode()).hexdigest()


class AnswerCache:
    """Answers in a folder of mode 0700; opened at its first use, by the thread that does the I/O."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self._clock = clock
        self._requests: queue.SimpleQueue[list[_Request] | None] = queue.SimpleQueue()
        self._gathered: list[_Request] = []
        self._thread: threading.Thread | None = None
        self._decoder = json_decoder(Answer)

    async def get(self, key: str) -> Answer | None:
        """Return the answer of a key, or None; a row that is no answer counts as missing.

        Simulated time is charged what the provider took when it gave the answer.

        Raises:
            CacheFailed: the cache cannot be opened or read.
        """
        text = await self._ask(key, None)
        if text is None:
            return None
        try:
            answer: Answer = self._decoder.decode(text)
        except ValueError:
            return None
        if self._clock.simulated:
            await self._clock.sleep(answer.latency_s)
        return answer

    async def put(self, key: str, answer: Answer) -> None:
        """Keep an answer; it survives the end of the process when this returns.

        Raises:
            CacheFailed: the cache cannot be opened or written.
        """
        await self._ask(key, JSON.encode(answer).decode())

    async def _ask(self, key: str, text: str | None) -> Any:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="answer cache", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        with self._clock.working():
            self._gathered.append(_Request(key, text, loop, future))
            if len(self._gathered) == 1:
                loop.call_soon(self._hand_over)
            return await future

    def _hand_over(self) -> None:
        """Wake the thread once for all that this turn of the loop asked for."""
        gathered, self._gathered = self._gathered, []
        if gathered:
            self._requests.put(gathered)

    async def close(self) -> None:
        """Finish what is under way and close the files."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._hand_over()
            self._requests.put(None)
            with self._clock.working():
                await asyncio.to_thread(thread.join)

    def _work(self) -> None:
        store: Any = None
        open_ = True
        while open_:
            batch, open_ = self._next()
            try:
                if store is None:
                    store = _opened(self.folder)
                results: Sequence[Any] = _done(store, batch)
            except Exception as error:
                results = _read_all(store, batch, _failed(self.folder, error))
            _deliver(batch, results)
        if store is not None:
            store.close()

    def _next(self) -> tuple[list[_Request], bool]:
        """Wait for requests and take what else waits; the flag is False when there will be no more."""
        batch: list[_Request] = []
        requests = self._requests.get()
        while requests is not None:
            batch += requests
            if len(batch) >= _BATCH:
                return batch, True
            try:
                requests = self._requests.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False


def _opened(folder: Path) -> Any:
    """Open the diskcache of a folder that nobody else can write to."""
    import diskcache

    from fleet.text_disk import TextDisk

    make_private(folder)
    # SQLite gives its other files the mode of this one.
    os.close(private(str(folder / diskcache.core.DBNAME), os.O_RDWR | os.O_CREAT))
    store = diskcache.Cache.__new__(diskcache.Cache)
    try:
        store.__init__(
            str(folder), timeout=_TIMEOUT_S, disk=TextDisk, eviction_policy="none", cull_limit=0, statistics=0
        )
    except BaseException:
        # A cache that cannot be opened leaves its database open.
        store.close()
        raise
    return store


def _done(store: Any, batch: list[_Request]) -> list[Any]:
    """Do a batch in order; its writes, if it has any, stand in one transaction."""
    if not any(request.text is not None for request in batch):
        return [_read(store, request.key) for request in batch]
    results: list[Any] = []
    with store.transact():
        for request in batch:
            if request.text is None:
                results.append(_read(store, request.key))
            else:
                store.set(request.key, request.text)
                results.append(None)
    return results


def _read_all(store: Any, batch: list[_Request], failed: CacheFailed) -> list[Any]:
    """Do the reads of a batch that failed: a full disk, which takes nothing, can still be read."""
    results: list[Any] = []
    for request in batch:
        result: Any = failed
        if request.text is None and store is not None:
            with suppress(Exception):
                result = _read(store, request.key)
        results.append(result)
    return results


def _read(store: Any, key: str) -> str | None:
    import sqlite3

    from fleet.text_disk import NotText

    try:
        text: str | None = store.get(key)
    except NotText:
        return None
    except sqlite3.OperationalError as error:
        if "decode to UTF-8" in str(error):
            return None
        raise
    return text


def _failed(folder: Path, error: Exception) -> CacheFailed:
    reason = str(error) or type(error).__name__
    return CacheFailed(
        f"the answer cache in {folder} does not work: {reason}",
        hint="Move that folder away, or name another one in QODEBASE_CACHE, then `qodebase resume` the run; a new run "
        "goes without it with `--cache off`.",
    )


def _deliver(batch: list[_Request], results: Sequence[Any]) -> None:
    """Hand results to their event loops, one wake-up for each loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = defaultdict(list)
    for request, result in zip(batch, results, strict=True):
        by_loop[request.loop].append((request.future, result))
    for loop, pairs in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_resolve, pairs)


def _resolve(pairs: list[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in pairs:
        if future.done():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
