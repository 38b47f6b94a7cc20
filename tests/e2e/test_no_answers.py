"""A model that cannot be reached, and runs that have nothing to do: said plainly, nothing lost."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from test_bad_input import LFS, RUN, expect_refused
from world import call, expect_clean, git, of_kind

JOB = """
job = "document"
repo = "code"
model = "dead"

[models.dead]
adapter = "scripted"
params = { error = 1.0 }
"""


@pytest.fixture
def place(here: Path, small: Path) -> Path:
    """The current folder, with a repository in ``code``."""
    shutil.copytree(small, here / "code")
    return here


def test_intents_whose_model_was_never_reached_stay_pending_and_a_resume_brings_them_home(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fleet.retry.Patience.__init__.__kwdefaults__", {**_patience(), "tries": 1})
    (place / "dead.toml").write_text(JOB)
    done = call("run", "dead.toml", "-o", "one", "--json")
    assert done.code == 3
    assert done.data["state"] == "no answers"
    assert done.data["ledger"]["pending"] == 3
    assert (done.data["failed_calls"], done.data["calls"]) == (3, 3)
    assert not of_kind(place / "one", "ended")
    assert "provider error" in call("status", "one").out
    settings = place / "one" / "settings.json"
    settings.write_text(settings.read_text().replace('"error": 1.0', '"error": 0.0'))
    assert call("resume", "one", "--json").data["ledger"]["landed"] == 3
    expect_clean(place / "one")


@contextmanager
def spent_provider(answers: int) -> Iterator[tuple[str, list[int]]]:
    """Serve a model that waits for three calls, answers so many, and turns all others away for an hour."""
    together = threading.Barrier(3)
    left = [answers]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            if left[0] < 3:
                together.wait(20)
            left[0] -= 1
            good = left[0] >= 0
            self.send_response(200 if good else 429)
            message = {"content": "Does one small thing."}
            body = json.dumps({"choices": [{"finish_reason": "stop", "message": message}]}).encode() if good else b""
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Retry-After", "3600")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1", left
        finally:
            server.shutdown()
            thread.join()


def test_intents_that_a_spent_provider_turns_away_in_mid_run_stay_pending_too(place: Path) -> None:
    with spent_provider(1) as (base, left):
        table = f'job = "document"\nrepo = "code"\nmodel = "m"\n[models.m]\nadapter = "openai"\napi_base = "{base}"\n'
        (place / "spent.toml").write_text(table + 'model = "some-model"\n')
        done = call("run", "spent.toml", "-o", "one", "--workers", "3", "--json")
        assert done.code == 3
        assert done.data["state"] == "no answers"
        assert (done.data["ledger"]["landed"], done.data["ledger"]["pending"]) == (1, 2)
        assert not of_kind(place / "one", "ended")
        left[0] = 9
        assert call("resume", "one", "--json").data["ledger"]["landed"] == 3
    expect_clean(place / "one")


def _patience() -> dict[str, object]:
    from fleet.retry import Patience

    return dict(Patience.__init__.__kwdefaults__ or {})


def test_a_resume_of_an_ended_run_says_that_nothing_is_left(place: Path) -> None:
    assert call(*RUN, "-o", "one").code == 0
    done = call("resume", "one")
    assert done.code == 0
    assert "nothing is left to do" in done.err
    assert len(of_kind(place / "one", "run started")) == 1


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ("part0.py", "--index part0.py is a source file"),
        ("part0.py/x.md", "part0.py is a file"),
        ("../x.md", "--index ../x.md"),
        (".git/x.md", "--index .git/x.md"),
    ],
)
def test_an_index_where_none_can_be_is_refused(place: Path, index: str, said: str) -> None:
    assert said in expect_refused(place, *RUN, "-o", "one", "--index", index)


def test_all_files_that_lfs_keeps_elsewhere_are_named_at_once(place: Path) -> None:
    for name in ("big.py", "bigger.py"):
        (place / "code" / name).write_text(LFS)
    git(place / "code", "add", "--all")
    git(place / "code", "commit", "--quiet", "--message", "big")
    err = expect_refused(place, *RUN, "-o", "one")
    assert "big.py and 1 more files are kept elsewhere" in err
    assert "--exclude 'big.py' --exclude 'bigger.py'" in err
