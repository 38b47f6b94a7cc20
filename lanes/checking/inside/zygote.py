"""The process that checks are forked from: one thread, pytest loaded once, one child for each judgement."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
import threading
from typing import Any

from lanes.checking.inside import kernel, walls
from lanes.checking.inside.compiled import loaded_runners, loaded_unheard
from lanes.checking.inside.judge import judge
from lanes.checking.inside.tests import warm_up


def serve(control: int, settings_text: str) -> None:
    """Fork a judgement for each connection that comes over a socket, until it closes.

    Args:
        control: file descriptor of a socket of packets.
        settings_text: JSON: ``sandbox``, ``hide``, ``keep`` (see `walls.build`), ``preload`` (modules),
            ``bytecode`` (see `bytecode.prepare`; empty: none is kept).
    """
    settings = json.loads(settings_text)
    os.chdir("/")
    with socket.socket(fileno=control) as packets:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        plain = _may_be_plain()
        fault = _prepare(settings)
        packets.send(json.dumps({"fault": fault, "plain": plain}).encode())
        while not fault:
            _reap()
            packet, descriptors, _, _ = socket.recv_fds(packets, 1, 1)
            if not packet:
                return
            _fork(packets, descriptors[0], settings)


def _prepare(settings: dict[str, Any]) -> str:
    """Load what is to be loaded and put up the walls; return why that failed, or the empty text."""
    for name in settings["preload"]:
        try:
            importlib.import_module(name)
        except Exception as error:
            return f"{name} cannot be imported by {sys.executable}: {type(error).__name__}: {error}"
    if "pytest" in settings["preload"]:
        warm_up()
    loaded_unheard()
    loaded_runners()
    if threading.active_count() > 1:
        return f"one of the modules {', '.join(settings['preload'])} starts threads, so nothing can be forked from it"
    if settings["sandbox"]:
        try:
            walls.build(settings["hide"], [*settings["keep"], sys.prefix, sys.base_prefix], settings["bytecode"])
        except OSError as error:
            return error.strerror or str(error)
        kernel.set_dumpable(False)
    gc.collect()
    gc.freeze()
    return ""


def _may_be_plain() -> bool:
    """Ask in a process of its own, so that this one stays small."""
    asked = os.fork()
    if not asked:
        try:
            from lanes.checking.inside.plugins import only_harmless

            os._exit(0 if only_harmless() else 1)
        finally:
            os._exit(2)
    return os.waitpid(asked, 0)[1] == 0


def _fork(packets: socket.socket, descriptor: int, settings: dict[str, Any]) -> None:
    if os.fork():
        os.close(descriptor)
        return
    try:
        packets.close()
        judge(socket.socket(fileno=descriptor), settings["bytecode"], sandbox=settings["sandbox"])
    except BaseException as error:
        os.write(2, f"judgement: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
