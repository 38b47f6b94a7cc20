"""A program as the model: what it is told, and what becomes of what it prints."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from fleet.models.program import ProgramModel
from fleet.models.registry import BadModel, ModelContext, ModelTable, create_model, parse_spec
from qodebase.clock import SystemClock
from qodebase.paths import RepoPath
from qodebase.ports import Answer, Failure, Message, NoAnswer, Prompt

PROMPT = Prompt(
    messages=(Message(role="user", text="say é"),),
    max_output_tokens=10,
    facts={"path": RepoPath(b"a.py"), "text": "x", "tree": object()},
)


def made(tmp_path: Path, code: str, *, by: str = sys.executable, timeout_s: float = 20.0) -> ProgramModel:
    file = tmp_path / "model"
    file.write_text(code)
    table = ModelTable(adapter="program", model=f"{by} {file}", timeout_s=timeout_s)
    context = ModelContext(environ=os.environ, cache_folder=tmp_path, clock=SystemClock())
    model = create_model(parse_spec("mine", {"mine": table}), context)
    assert isinstance(model, ProgramModel)
    return model


async def ask(model: ProgramModel) -> Answer | NoAnswer:
    return await model.answer(PROMPT)


def test_it_reads_messages_and_plain_facts_and_its_output_is_the_answer(tmp_path: Path) -> None:
    model = made(tmp_path, "import sys; sys.stdout.write(sys.stdin.read())")
    answer = asyncio.run(ask(model))
    assert isinstance(answer, Answer)
    assert json.loads(answer.text) == {
        "messages": [{"role": "user", "text": "say é"}],
        "facts": {"path": "a.py", "text": "x"},
    }
    assert (answer.model, answer.cost_usd) == ("mine", 0.0)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit('no idea')", "the program ended with 1: no idea"),
        ("print()", "the program printed nothing"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "the program printed what is no UTF-8 text"),
    ],
)
def test_failure_and_silence_are_no_answer_and_say_why(tmp_path: Path, code: str, why: str) -> None:
    outcome = asyncio.run(ask(made(tmp_path, code)))
    assert isinstance(outcome, NoAnswer)
    assert (outcome.failure, outcome.why) == (Failure.EMPTY, why)


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    code = f"echo $$ > {tmp_path / 'id'}; exec sleep 60"
    outcome = asyncio.run(ask(made(tmp_path, code, by="sh", timeout_s=1.0)))
    assert isinstance(outcome, NoAnswer)
    assert outcome.failure is Failure.TIMEOUT
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "id").read_text()), 0)


@pytest.mark.parametrize("argument", ["", "nowhere-to-be-found x", "sh 'open"])
def test_a_program_that_is_not_there_is_found_before_work(tmp_path: Path, argument: str) -> None:
    context = ModelContext(environ=os.environ, cache_folder=tmp_path, clock=SystemClock())
    with pytest.raises(BadModel):
        create_model(parse_spec(f"program:{argument}", {}), context)


def test_it_is_started_in_its_folder_wherever_the_run_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "mine" / "answer"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\npwd\n")
    script.chmod(0o755)
    context = ModelContext(environ=os.environ, cache_folder=tmp_path, clock=SystemClock())
    table = ModelTable(adapter="program", model="./answer", folder=str(script.parent))
    spec = parse_spec("mine", {"mine": table})
    answer = asyncio.run(create_model(spec, context).answer(PROMPT))
    assert isinstance(answer, Answer)
    assert answer.text == f"{script.parent}\n"
    assert spec.scope != parse_spec("mine", {"mine": ModelTable(adapter="program", model="./answer")}).scope
    script.unlink()
    with pytest.raises(BadModel, match="is not to be found"):
        create_model(spec, context)
    script.parent.rmdir()
    with pytest.raises(BadModel, match="is started is not there"):
        create_model(spec, context)


FLOOD = "import os\nwhile True: os.write(1, bytes(1 << 16))"


@pytest.mark.parametrize(
    ("code", "by", "timeout_s", "failure"),
    [
        pytest.param(FLOOD, sys.executable, 20.0, Failure.TOO_LONG, id="prints without end"),
        pytest.param("yes >&2", "/bin/sh", 0.3, Failure.TIMEOUT, id="complains without end"),
        pytest.param("sleep 60; echo", "/bin/sh", 0.3, Failure.TIMEOUT, id="waits for another"),
    ],
)
def test_a_program_that_does_not_end_is_ended_with_all_that_it_started(
    code: str, by: str, timeout_s: float, failure: Failure, tmp_path: Path
) -> None:
    async def main() -> Answer | NoAnswer:
        async with asyncio.timeout(10):
            return await ask(made(tmp_path, code, by=by, timeout_s=timeout_s))

    outcome = asyncio.run(main())
    assert isinstance(outcome, NoAnswer)
    assert outcome.failure is failure


def test_a_program_does_not_hear_the_ctrl_c_of_the_terminal(tmp_path: Path) -> None:
    outcome = asyncio.run(ask(made(tmp_path, "import os; print(os.getpgrp() == os.getpid())")))
    assert isinstance(outcome, Answer)
    assert outcome.text == "True\n"


def test_a_script_without_an_interpreter_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "model").touch(mode=0o755)
    with pytest.raises(BadModel, match="cannot be started") as caught:
        asyncio.run(ask(made(tmp_path, "echo hello", by="")))
    assert "#!" in caught.value.hint
