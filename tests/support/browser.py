"""Debian's chromium without a window, driven by its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import itertools
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

CHROMIUM = shutil.which("chromium")
_STARTS_WITHIN_S = 60
_ANSWERS_WITHIN_S = 60


class Browser:
    """One page: what it asked of the network, what it complained of, and what it shows."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._session = ""
        self._loaded = asyncio.Event()
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.complaints: list[str] = []
        self.asked: list[str] = []

    async def open(self, url: str, *, width: int, height: int, dark: bool = False, script: bool = True) -> None:
        """Open an address in a page of a size, and wait until it is loaded."""
        target = (await self._send("Target.createTarget", url="about:blank"))["targetId"]
        attached = await self._send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.complaints, self.asked = [], []
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self._send(f"{domain}.enable")
        phone = width < 500
        await self._send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self._send("Emulation.setEmulatedMedia", features=[scheme])
        await self._send("Emulation.setScriptExecutionDisabled", value=not script)
        self._loaded.clear()
        await self._send("Page.navigate", url=url)
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            await self._loaded.wait()

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression on the page; a promise is waited for."""
        found = await self._send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until an expression is true on the page, looked at once a frame."""
        await self.evaluate(
            "new Promise(done => { const look = () => "
            f"({expression}) ? done(true) : requestAnimationFrame(look); look(); }})"
        )

    async def screenshot(self) -> bytes:
        """Return the whole page as PNG."""
        shot = await self._send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    async def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        await self._socket.send_json(message | ({"sessionId": self._session} if self._session else {}))
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            return await self._answers[number]

    async def listen(self) -> None:
        """Take what the browser says, until it is closed."""
        async for message in self._socket:
            said = message.json()
            if "id" in said:
                answer = self._answers.pop(said["id"])
                if "error" in said:
                    answer.set_exception(AssertionError(said["error"]))
                else:
                    answer.set_result(said["result"])
            else:
                self._hear(said["method"], said.get("params", {}))

    def _hear(self, method: str, told: dict[str, Any]) -> None:
        match method:
            case "Page.loadEventFired":
                self._loaded.set()
            case "Runtime.exceptionThrown":
                self.complaints.append(str(told["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                self.complaints.append(str(told["args"]))
            case "Log.entryAdded":
                self.complaints.append(str(told["entry"]))
            case "Network.requestWillBeSent":
                self.asked.append(told["request"]["url"])


@asynccontextmanager
async def browser(folder: Path) -> AsyncIterator[Browser]:
    """Start a browser whose profile is below a folder, and end it."""
    assert CHROMIUM is not None
    profile = folder / "profile"
    # As root, in a container, there is no sandbox to be had; only files of the test itself are opened.
    flags = ["--headless=new", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--disable-dev-shm-usage"]
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *flags,
        *root,
        f"--user-data-dir={profile}",
        "--remote-debugging-port=0",
        "about:blank",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_STARTS_WITHIN_S):
            url = await _address(process)
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(url, max_msg_size=0) as socket,
            asyncio.TaskGroup() as tasks,
        ):
            page = Browser(socket)
            hearing = tasks.create_task(page.listen(), name="listen to the browser")
            draining = tasks.create_task(_drain(process), name="drain the browser's messages")
            yield page
            hearing.cancel()
            draining.cancel()
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
        # Those whom it started may hold the other end of the pipe a little longer.
        process._transport.close()  # type: ignore[attr-defined]


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        if b"DevTools listening on" in line:
            return line.decode().rpartition(" ")[2].strip()
    raise AssertionError("chromium ended before it could be reached")


async def _drain(process: asyncio.subprocess.Process) -> None:
    assert process.stderr is not None
    async for _ in process.stderr:
        pass
