from __future__ import annotations

import getpass
import json
import platform
import stat
import sys
from pathlib import Path

import pytest

from qodebase.commands.bench.support.telling import tell
from qodebase.commands.support.environment import FILE, NamedModels, environment, keep_environment
from qodebase.events import Answered


def test_an_environment_says_product_machine_and_command() -> None:
    found = environment()
    assert found["python"].endswith(platform.python_version())
    assert found["git"][0].isdigit()
    assert found["cpus"] >= 1
    assert found["memory_bytes"] > 1 << 28
    assert len(found["load"]) == 3
    assert {"polars", "msgspec", "dulwich"} <= found["packages"].keys()
    assert len(found["lock_digest"]) in (0, 64)
    assert json.loads(json.dumps(found)) == found


def test_an_environment_names_no_host_no_home_and_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    key = "sk-" + "q7" * 12
    monkeypatch.setenv("SOME_API_KEY", key)
    monkeypatch.setenv("HOME", str(tmp_path))
    command = [f"{tmp_path}/bin/qodebase", "run", f"--repo={tmp_path}/code", key, "http://me:pass1234@host/x"]
    monkeypatch.setattr(sys, "argv", command)
    found = environment()
    assert found["command"] == ["qodebase", "run", "--repo=~/code", "[secret]", "http://[secret]@host/x"]
    text = json.dumps(found)
    assert platform.node() not in text.replace(platform.machine(), "")
    assert str(tmp_path) not in text
    assert getpass.getuser() == "root" or getpass.getuser() not in text


def test_a_runs_environment_is_written_at_its_freeze_for_its_owner_only(home: Path) -> None:
    file = home / "runs" / "one" / FILE
    found = json.loads(file.read_bytes())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert found["models"] == {"asked": ["slow"], "named_by_provider": []}
    assert (found["seed"], found["cache"], len(found["prompts"]["digest"])) == (0, "use", 64)


def test_models_that_a_provider_names_are_added_once(tmp_path: Path) -> None:
    keep_environment(tmp_path, {"models": {"asked": ["m"], "named_by_provider": ["m-1"]}})
    named = NamedModels(tmp_path)
    for name in ("m-1", "", "m-2", "m-2"):
        named(Answered(call=1, outcome="answer", model="m", named=name))
    named.keep()
    assert json.loads((tmp_path / FILE).read_bytes())["models"]["named_by_provider"] == ["m-1", "m-2"]


def test_a_run_without_an_environment_gets_none_later(tmp_path: Path) -> None:
    named = NamedModels(tmp_path)
    named(Answered(call=1, outcome="answer", model="m", named="m-1"))
    named.keep()
    assert not (tmp_path / FILE).exists()


def test_the_figures_of_a_bench_have_the_environment_beside_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert tell({"seconds": 1.0, "missed": []}, json=True, check=True) == 0
    assert json.loads(capsys.readouterr().out)["environment"]["product"]
