"""What leaves the machine, what a run keeps, and who can read it: over a real endpoint, in real files."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from world import call, expect_clean, git, ledger_of, make_small, of_kind

from qodebase.segments import SegmentReader
from tests.support.made_secrets import MIXED, SECRETS

KEY = "key-" + MIXED[5:45]
SECRET = SECRETS["AWS Access Key"]
HEADER = "Says what the file is for.\n\nIt is made up."
GPL = "# SPDX-License-Identifier: GPL-3.0-only\n\n\ndef free():\n    return 1\n"

JOB = """
job = "document"
repo = "code"
model = "far"
workers = 4
{more}

[models.far]
adapter = "{adapter}"
model = "{model}"
api_base = "{base}"
api_key_env = "FAR_API_KEY"
local = false
price = {{ input = 1.0, output = 1.0 }}
"""

Reply = Callable[[int, dict[str, str], str], tuple[int, Any]]


class Provider:
    """An endpoint in a thread of its own; ``reply`` gets the call's number, its headers and the text of the prompt."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.base = ""
        self.prompts: list[str] = []

    async def handle(self, request: web.Request) -> web.Response:
        said = "\n".join(message["content"] for message in (await request.json())["messages"])
        self.prompts.append(said)
        status, body = self._reply(len(self.prompts), dict(request.headers), said)
        return web.json_response(body, status=status)


@contextmanager
def provider(reply: Reply) -> Iterator[Provider]:
    """Serve until the block is left."""
    one = Provider(reply)
    ready, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", one.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        one.base = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="provider")
    thread.start()
    assert ready.wait(30)
    try:
        yield one
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def completion(text: str) -> tuple[int, Any]:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return 200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def answering(number: int, headers: dict[str, str], prompt: str) -> tuple[int, Any]:
    return completion(HEADER)


def texts_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield what every file below a folder holds, and every prompt, answer and change that a run keeps."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path), path.read_bytes()
    for run in {path.parent for path in folder.rglob("journal.jsonl")}:
        reader = SegmentReader(run / "attempts")
        for line in (run / "journal.jsonl").read_bytes().splitlines():
            if ref := json.loads(line).get("ref"):
                yield f"{run} {ref}", reader.get(ref)
        reader.close()


def expect_nowhere(folder: Path, text: str) -> None:
    held = [where for where, content in texts_in(folder) if text.encode() in content]
    assert held == []


@pytest.fixture
def place(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder with a repository: two plain files, one with a secret, one under the GPL, one of a vendor."""
    code = make_small(here / "code", files=2)
    (code / "keys.py").write_text(f"import boto\n\n\ndef connect():\n    return boto.connect('{SECRET}')\n")
    (code / "free.py").write_text(GPL)
    (code / "theirs").mkdir()
    (code / "theirs" / "part.py").write_text("def theirs():\n    return 1\n")
    git(code, "add", "--all")
    git(code, "commit", "--quiet", "--message", "More code")
    monkeypatch.setenv("FAR_API_KEY", KEY)
    return here


def write_job(place: Path, base: str, *, more: str = "", adapter: str = "openai", model: str = "small") -> None:
    (place / "job.toml").write_text(JOB.format(base=base, more=more, adapter=adapter, model=model))


def reasons(run: Path) -> dict[str, str]:
    """Return why intents did not land, by the end of their path."""
    intents = [json.loads(line) for line in (run / "intents.jsonl").read_bytes().splitlines()]
    ended = {intent["id"]: intent["reason"] for intent in intents if intent["reason"]}
    ended |= {event["intent"]: event["reason"] for event in of_kind(run, "ended")}
    return {intent.rpartition("/")[2].removeprefix("document:"): reason for intent, reason in ended.items()}


def test_secrets_and_forbidden_files_are_in_no_prompt_and_the_rest_lands(place: Path) -> None:
    more = 'never_send = ["theirs/"]\nnever_send_licences = ["GPL-*"]'
    with provider(answering) as far:
        write_job(place, far.base, more=more)
        assert call("run", "job.toml", "-o", "one", "--json").code == 0
    run = place / "one"
    assert ledger_of(run) == {"landed": 2, "refused": 1, "skipped": 2}
    assert reasons(run) == {
        "keys.py": "secret: AWS Access Key in keys.py line 5",
        "free.py": "never sent: free.py (licence GPL-3.0-only)",
        "part.py": "never sent: theirs/part.py (a path that is never sent)",
    }
    assert len(far.prompts) == 2
    assert not any(word in prompt for prompt in far.prompts for word in (SECRET, "def free", "def theirs"))
    assert [(event["how"], event["intent"]) for event in of_kind(run, "withheld")] == [("refused", "document:keys.py")]
    expect_nowhere(place / "one", SECRET)
    expect_nowhere(place, KEY)
    expect_clean(run)
    assert "withheld" in call("log", "one", "keys.py").out


def test_a_dry_run_says_what_would_not_be_sent(place: Path) -> None:
    write_job(place, "https://far.example/v1", more='never_send = ["theirs/"]')
    plan = call("run", "job.toml", "--dry-run", "--json").data
    assert plan["withheld"] == {"document:keys.py": "secret: AWS Access Key in keys.py line 5"}
    assert plan["endings"] == {"pending": 4, "skipped": 1}
    text = call("run", "job.toml", "--dry-run", "--secrets", "redact").out
    assert "not be sent as they are: 1 " in text
    assert "document:keys.py: redacted: AWS Access Key in keys.py line 5" in text
    assert SECRET not in text


def test_a_model_on_this_machine_is_shown_everything(place: Path) -> None:
    with provider(answering) as near:
        write_job(place, near.base, more='never_send = ["theirs/"]')
        text = (place / "job.toml").read_text().replace("local = false\n", "")
        (place / "job.toml").write_text(text)
        assert call("run", "job.toml", "-o", "one", "--json").data["ledger"]["landed"] == 5
    assert any(SECRET in prompt for prompt in near.prompts)


def test_a_redacted_prompt_is_answered_and_an_answer_with_the_placeholder_is_not_used(place: Path) -> None:
    def reply(number: int, headers: dict[str, str], prompt: str) -> tuple[int, Any]:
        if "connect" not in prompt:
            return completion(HEADER)
        return completion("Connects.\n\nIt uses [secret: AWS Access Key]." if "'[secret" in prompt else HEADER)

    with provider(reply) as far:
        write_job(place, far.base)
        assert call("run", "job.toml", "-o", "one", "--secrets", "redact", "--json").code == 0
    assert reasons(place / "one")["keys.py"] == (
        "secret: the answer holds [secret: AWS Access Key], which stands for what was not sent"
    )
    assert any("boto.connect('[secret: AWS Access Key]')" in prompt for prompt in far.prompts)
    expect_nowhere(place / "one", SECRET)
    expect_clean(place / "one")
    data = call("log", "one", "keys.py", "--json").data
    assert data["usage"] == {**data["usage"], "calls": 1, "input_tokens": 100}


def test_a_redacted_prompt_leads_to_a_change_of_the_real_file(place: Path) -> None:
    with provider(answering) as far:
        write_job(place, far.base)
        assert call("run", "job.toml", "-o", "one", "--secrets", "redact", "--json").data["ledger"]["landed"] == 5
    assert not any(SECRET in prompt for prompt in far.prompts)
    assert SECRET in git(place / "one" / "repo.git", "show", "main:keys.py")
    assert [event["how"] for event in of_kind(place / "one", "withheld")] == ["redacted"]
    expect_clean(place / "one")


def test_an_answer_that_brings_a_secret_is_refused_paid_and_kept_nowhere(place: Path) -> None:
    brought = SECRETS["GitHub Token"]
    with provider(lambda number, headers, prompt: completion(f"Calls the service.\n\nUse {brought}.")) as far:
        write_job(place, far.base)
        assert call("run", "job.toml", "-o", "one", "--json").code == 0
        assert ledger_of(place / "one") == {"refused": 5}
        assert reasons(place / "one")["part0.py"] == "secret: GitHub Token in line 3 of the answer"
        expect_nowhere(place, brought)
        asked = len(far.prompts)
        assert call("run", "job.toml", "-o", "two", "--json").code == 0
        assert len(far.prompts) == 2 * asked
    assert call("status", "one", "--json").data["cost_usd"] > 0


@pytest.mark.parametrize("adapter", ["openai", pytest.param("litellm", marks=pytest.mark.full)])
def test_the_key_is_in_no_file_and_no_error_whatever_the_provider_says(
    place: Path, adapter: str, capfd: pytest.CaptureFixture[str]
) -> None:
    def reply(number: int, headers: dict[str, str], prompt: str) -> tuple[int, Any]:
        assert headers["Authorization"] == f"Bearer {KEY}"
        if number == 1:
            return 400, {"error": {"message": f"Bad header 'Authorization: Bearer {KEY}' in {headers}", "code": KEY}}
        return 401, {"error": {"message": f"Incorrect API key provided: {KEY}.", "type": "invalid_request_error"}}

    with provider(reply) as far:
        write_job(place, far.base, adapter=adapter, model="small" if adapter == "openai" else "openai/small")
        done = call("run", "job.toml", "-o", "one", "--workers", "1")
    assert done.code == 2
    assert "refuses the key" in done.err
    shown = done.out + done.err + "".join(capfd.readouterr())
    for command in (["status", "one"], ["log", "one"], ["log", "one", "free.py", "--json"]):
        shown += call(*command).out
    assert KEY not in shown
    assert "[secret]" in shown
    expect_nowhere(place, KEY)


def test_an_answer_that_holds_the_key_is_not_used_and_kept_nowhere(place: Path) -> None:
    with provider(lambda number, headers, prompt: completion(f"Says it.\n\n{headers['Authorization']}")) as far:
        write_job(place, far.base)
        assert call("run", "job.toml", "-o", "one", "--json").data["ledger"]["refused"] == 5
    assert reasons(place / "one")["part0.py"] == "secret: the answer holds the key that it was asked with"
    expect_nowhere(place, KEY)


@pytest.mark.parametrize(
    "params", ['params = { api_key = "KEY" }', 'params = { extra = { Authorization = "KEY" } }', 'api_key = "KEY"']
)
def test_a_key_in_a_job_file_is_refused_and_not_shown(place: Path, params: str) -> None:
    write_job(place, "https://far.example/v1")
    with (place / "job.toml").open("a") as out:
        out.write(params.replace("KEY", KEY))
    done = call("run", "job.toml", "-o", "one")
    assert done.code == 2
    assert "_env" in done.err
    assert KEY not in done.out + done.err
    assert not (place / "one").exists()


def test_texts_that_are_not_to_be_kept_are_in_no_file_and_the_log_says_so(place: Path) -> None:
    with provider(answering) as far:
        write_job(place, far.base)
        words = ("--keep-prompts", "off", "--cache", "off", "--json")
        assert call("run", "job.toml", "-o", "one", *words).data["ledger"]["landed"] == 4
    kept = [content for where, content in texts_in(place / "one") if "repo.git" not in where]
    assert not any(b"header documentation of source files" in content for content in kept)
    data = call("log", "one", "part0.py", "--json").data
    assert (data["texts_kept"], data["calls"][0]["prompt"], data["calls"][0]["answer"]) == (False, "", "")
    assert len(data["calls"][0]["prompt_sha256"]) == len(data["calls"][0]["answer_sha256"]) == 64
    text = call("log", "one", "part0.py").out
    assert f"prompt: not kept (--keep-prompts off), SHA-256 {data['calls'][0]['prompt_sha256']}" in text
    expect_clean(place / "one")


def test_nobody_else_can_read_a_run_or_the_cache_whatever_the_umask(place: Path) -> None:
    (place / "one").mkdir(mode=0o777)
    (place / "one").chmod(0o777)
    before = os.umask(0)
    try:
        with provider(answering) as far:
            write_job(place, far.base)
            assert call("run", "job.toml", "-o", "one", "--sample", "1", "--json").code == 0
            assert call("resume", "one", "--json").code == 0
    finally:
        os.umask(before)
    top = [place / "one", place / "one" / "attempts", place / "one" / "repo.git", place / "cache"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in top] == [0o700] * 4
    files = [path for folder in (place / "one", place / "cache") for path in folder.rglob("*") if path.is_file()]
    ours = [path for path in files if place / "one" / "repo.git" not in path.parents]
    assert len(ours) >= 7
    assert {path.name: oct(path.stat().st_mode) for path in ours if path.stat().st_mode & 0o077} == {}


def test_secrets_of_a_users_own_kind_are_found_and_a_bad_pattern_is_refused_before_any_work(place: Path) -> None:
    with provider(answering) as far:
        write_job(place, far.base, more='[secret_patterns]\nparts = ["part[0-9]"]')
        assert call("run", "job.toml", "-o", "one", "--json").code == 0
    assert reasons(place / "one")["part1.py"].startswith("secret: parts in part1.py line 1")
    done = call("run", "job.toml", "-o", "two", "--secret-pattern", "broken=(")
    assert done.code == 2
    assert "'broken' is no regular expression" in done.err
    assert not (place / "two").exists()
