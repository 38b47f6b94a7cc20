"""Which model a flag means, and what a job file may say about models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet.models.registry import (
    BadModel,
    ModelTable,
    Price,
    UnknownModel,
    adapters,
    create_model,
    load_adapter,
    model_tables,
    parse_spec,
)
from qodebase.codec import BadData
from qodebase.ports import Failure, NoAnswer

ADAPTER_FILE = """
from qodebase.ports import Failure, NoAnswer
ADAPTER = "silent"
class Silent:
    deterministic, simulated, local = True, False, True
    def __init__(self, name): self.name = name
    async def answer(self, prompt): return NoAnswer(failure=Failure.EMPTY, why="silent", model=self.name)
    async def close(self): pass
def create(spec, context): return Silent(spec.name)
"""


def test_the_adapters_are_the_files_of_the_folder() -> None:
    assert {"cached", "litellm", "openai", "scripted"} <= set(adapters())
    assert "registry" not in adapters()
    names = ["cached", "litellm", "openai", "scripted"]
    assert [load_adapter(name).ADAPTER for name in names] == names


@pytest.mark.parametrize(
    ("text", "adapter", "argument"),
    [
        ("scripted", "scripted", ""),
        ("scripted:seed=7,wrong=0.05,latency=0.2", "scripted", "seed=7,wrong=0.05,latency=0.2"),
        ("openai:gpt-x:free", "openai", "gpt-x:free"),
        ("litellm:anthropic/claude-x", "litellm", "anthropic/claude-x"),
        ("cached:openai:gpt-x", "cached", "openai:gpt-x"),
    ],
)
def test_a_flag_names_an_adapter_and_its_argument(text: str, adapter: str, argument: str) -> None:
    spec = parse_spec(text, {})
    assert (spec.name, spec.adapter, spec.argument) == (text, adapter, argument)


def test_a_table_of_the_job_file_goes_before_an_adapter_of_that_name() -> None:
    tables = model_tables({"openai": {"adapter": "scripted", "params": {"seed": 3}}}, source="job.toml")
    assert parse_spec("openai", tables).adapter == "scripted"


def test_an_unknown_model_lists_what_there_is() -> None:
    tables = {"cheap": ModelTable(adapter="openai", model="x")}
    with pytest.raises(UnknownModel) as caught:
        parse_spec("opnai:gpt-x", tables)
    assert "did you mean `openai`" in caught.value.message
    for name in (*adapters(), "cheap"):
        assert name in caught.value.hint
    with pytest.raises(UnknownModel, match="nobody"):
        parse_spec("cheap", {"cheap": ModelTable(adapter="nobody")})


def test_a_table_is_read_whole() -> None:
    raw = {
        "adapter": "openai",
        "model": "m",
        "api_base": "https://llm.example/v1",
        "api_key_env": "K",
        "headers_env": {"X-Team": "TEAM"},
        "ca_file": "ca.pem",
        "params": {"temperature": 0},
        "price": {"input": 1, "cached": 0.1, "output": 2.5},
        "requests_per_minute": 60,
        "tokens_per_minute": 1e6,
        "timeout_s": 30,
    }
    table = model_tables({"cheap": raw}, source="job.toml")["cheap"]
    assert table.price == Price(input=1.0, cached=0.1, output=2.5)
    assert (table.headers_env, table.requests_per_minute, table.timeout_s) == ({"X-Team": "TEAM"}, 60.0, 30.0)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"adapter": "openai", "api_kee_env": "K"}, ("api_kee_env", "did you mean `api_key_env`", "Allowed: adapter")),
        ({"adapter": "openai", "price": {"input": 1, "out": 2}}, ("price", "`out`", "Allowed: input, output, cached")),
        ({"adapter": "openai", "price": {"input": -1, "output": 2}}, ("price", "`input` must be 0 or more")),
        ({"adapter": "openai", "price": {"input": 1}}, ("price", "output")),
        ({"adapter": "openai", "timeout_s": 0}, ("`timeout_s` must be more than 0",)),
        ({"adapter": "openai", "timeout_s": "long"}, ("timeout_s", "float")),
        ({"adapter": 7}, ("adapter", "str")),
        ({"model": "m"}, ("adapter",)),
        ("openai", ("must be a table",)),
    ],
)
def test_a_wrong_table_names_file_field_and_what_is_allowed(raw: Any, said: tuple[str, ...]) -> None:
    with pytest.raises(BadData) as caught:
        model_tables({"cheap": raw}, source="job.toml")
    for text in ("job.toml", "models.cheap", *said):
        assert text in str(caught.value)


def test_the_price_of_cached_input_is_that_of_input_where_it_is_not_given() -> None:
    tokens = {"input_tokens": 1_000_000, "cached_tokens": 500_000, "output_tokens": 100_000}
    assert Price(input=2, output=10).cost(**tokens) == pytest.approx(3.0)
    assert Price(input=2, output=10, cached=0).cost(**tokens) == pytest.approx(2.0)


def test_the_scope_of_answers_is_where_which_and_how_and_not_who_pays() -> None:
    def scope(**table: Any) -> str:
        return parse_spec("x", {"x": ModelTable(adapter="openai", **{"model": "m", **table})}).scope

    assert (
        scope()
        == scope(price=Price(input=1, output=1), api_key_env="K", timeout_s=5)
        == parse_spec("openai:m", {}).scope
    )
    assert len({scope(), scope(model="n"), scope(params={"temperature": 1}), scope(api_base="http://h/v1")}) == 4


def test_a_context_does_not_show_the_environment(context: Any) -> None:
    assert "sk-secret" not in repr(context(OPENAI_API_KEY="sk-secret"))


def test_a_model_of_another_package_is_one_file_and_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: Any, prompt: Any
) -> None:
    (tmp_path / "silent_model.py").write_text(ADAPTER_FILE)
    (tmp_path / "broken_model.py").write_text('ADAPTER = "broken"\n')
    info = tmp_path / "silent-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: silent\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[qodebase.models]\nsilent = silent_model\nbroken = broken_model\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "silent" in adapters()
    assert "silent_model" not in sys.modules
    import asyncio

    model = create_model(parse_spec("silent:x", {}), context())
    got = asyncio.run(model.answer(prompt()))
    assert got == NoAnswer(failure=Failure.EMPTY, why="silent", model="silent:x")
    with pytest.raises(BadModel, match="create"):
        load_adapter("broken")


def test_a_model_that_lacks_a_part_is_found_before_it_is_asked(
    tmp_path: Path, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "halfmodel.py").write_text(
        "class Half:\n    name = 'half'\n    deterministic = simulated = False\n"
        "def create(spec, context):\n    return Half()\n"
    )
    info = tmp_path / "half-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: half\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[qodebase.models]\nhalf = halfmodel\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadModel, match="the model half has no `local`"):
        create_model(parse_spec("half", {}), context())


def test_finding_models_imports_none_of_them() -> None:
    script = (
        "import sys; from fleet.models.registry import adapters, load_adapter, parse_spec\n"
        "adapters(); parse_spec('litellm:a/b', {})\n"
        "heavy = {'litellm', 'aiohttp', 'diskcache', 'openai', 'fleet.models.litellm'} & set(sys.modules)\n"
        "load_adapter('litellm'); load_adapter('openai')\n"
        "heavy |= {'litellm', 'aiohttp'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
