"""Stands for the package xllamacpp where no model may be loaded: a server that does what its weights' file says.

The file holds JSON: ``fail`` (a line for the log, then no server), ``abort`` (the process ends), ``hang`` (no server
ever), ``die_after`` (the process ends with this call, unanswered). Answers echo the question with the settings.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(path=""), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())


class Server:
    def __init__(self, params: Any) -> None:
        sys.stdout.write("loading\n")
        sys.stdout.flush()
        does = json.loads(Path(params.model.path).read_text() or "{}")
        if "fail" in does:
            sys.stderr.write(f"0.00.1 I fine\n0.00.2 E {does['fail']}\n0.00.3 E and so it ends\n")
            raise RuntimeError("Failed to init server")
        if "abort" in does:
            os._exit(does["abort"])
        while "hang" in does:
            time.sleep(3600)
        self._http = ThreadingHTTPServer((params.hostnames[0], params.port), _handler(params, does))
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{self._http.server_port}"


def _handler(params: Any, does: dict[str, Any]) -> type[BaseHTTPRequestHandler]:
    calls = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal calls
            calls += 1
            if calls == does.get("die_after"):
                os._exit(1)
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = body["messages"][0]["content"]
            if self.headers["Authorization"] != f"Bearer {params.api_keys[0]}":
                self.reply(401, {"error": {"message": "Invalid API Key", "code": 401}})
            elif len(asked) > params.n_ctx // params.n_parallel:
                why = f"request ({len(asked)} tokens) exceeds the available context size, try increasing it"
                self.reply(400, {"error": {"code": 400, "message": why, "type": "exceed_context_size_error"}})
            else:
                said = json.dumps({"asked": asked, "slots": params.n_parallel, "cache": params.cache_ram_mib, **body})
                choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": said}}
                self.reply(200, {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})

        def reply(self, status: int, body: dict[str, Any]) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    return Handler
