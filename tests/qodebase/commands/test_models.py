"""`qodebase models`, and what a run says that needs weights."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fleet.models import local
from fleet.models.registry import adapters
from qodebase.cli import make_app


def call(*arguments: str) -> Result:
    return CliRunner().invoke(make_app(), arguments, prog_name="qodebase")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep weights and answers in a folder of the test's own, and no key."""
    monkeypatch.setenv("QODEBASE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(local, "_RUNTIME", "json")
    return tmp_path / "cache"


def test_the_list_shows_every_kind_and_what_it_lacks() -> None:
    shown = json.loads(call("models", "list", "--json").stdout)
    kinds = {kind["name"]: kind for kind in shown["kinds"]}
    assert tuple(sorted(kinds)) == adapters()
    assert all(kind["what"] for kind in kinds.values())
    assert (kinds["outline"]["ready"], kinds["outline"]["lacks"]) == (True, "")
    assert (kinds["local"]["ready"], kinds["local"]["lacks"]) == (False, "qodebase models fetch smollm2")
    weights = {one["name"]: one for one in shown["weights"]}
    assert (weights["smollm2"]["state"], weights["smollm2"]["licence"]) == ("missing", "Apache-2.0")
    assert weights["smollm2"]["bytes"] == 98_362_432


def test_the_list_for_people_names_weights_as_a_run_does(cache: Path) -> None:
    text = call("models", "list").stdout
    assert "local:smollm2  missing  98 MB  Apache-2.0" in text
    (cache / "weights").mkdir(parents=True)
    with (cache / "weights" / "SmolLM2-135M-Instruct.Q4_1.gguf").open("wb") as file:
        file.truncate(98_362_432)
    assert "local:smollm2  fetched  98 MB" in call("models", "list").stdout
    removed = call("models", "remove", "smollm2")
    assert (removed.exit_code, removed.stderr) == (0, "smollm2 is removed\n")
    assert call("models", "remove", "smollm2").stderr == "smollm2 was not there\n"


def test_weights_that_nobody_knows_are_bad_input() -> None:
    for word in ("fetch", "remove"):
        done = call("models", word, "smolm2")
        assert done.exit_code == 2
        assert "did you mean `smollm2`?" in done.stderr


def test_a_run_without_its_weights_stops_before_anything_is_written(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "a.py").write_text("a = 1\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "base"]):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@t", *words], cwd=code, check=True)
    out = tmp_path / "out"
    done = call("run", "document", "--repo", str(code), "--out", str(out), "--model", "local:smollm2")
    assert done.exit_code == 2
    assert "qodebase models fetch smollm2" in done.stderr
    assert not out.exists()
