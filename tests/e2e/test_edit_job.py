"""The edit job from end to end, without a key: a program, a function or rows that say the answers are the model."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from world import call, expect_clean, expect_each_once, git, ledger_of, of_kind

import qodebase as qb
from qodebase.ports import Prompt

REWRITE = """
import json, re, sys
asked = json.load(sys.stdin)
text = asked["facts"]["text"]
new = re.sub(r"\\bold_call\\(", "new_call(", text)
told = " ".join(message["text"] for message in asked["messages"])
if "text3" in text and "did not do on its own fork" not in told:
    new = new + "(\\n"
print("NO CHANGE" if new == text else f"````python\\n{new}````")
"""


@pytest.fixture
def code(here: Path) -> Path:
    """A repository of which four files call what is out of use, and one only names it."""
    path = here / "code"
    (path / "app").mkdir(parents=True)
    for number in range(4):
        (path / "app" / f"m{number}.py").write_text(f"def text{number}(x):\n    return old_call(x, {number})\n")
    (path / "app" / "told.py").write_text('"""Once there was old_call(x)."""\n')
    (path / "app" / "other.py").write_text("x = 1\n")
    git(path, "init", "--quiet", "--initial-branch", "main")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "The code")
    return path


def job_file(here: Path, **more: str) -> Path:
    (here / "rewrite.py").write_text(REWRITE)
    settings = {
        "contains": r"old_call\(",
        "prompt": "Replace each call of old_call by new_call in {path}.\n\n{text}",
        "verify": "{python} -m ast {path}",
        **more,
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    model = json.dumps(f"program:{sys.executable} rewrite.py")
    head = f'job = "edit"\nrepo = "code"\nout = "one"\nworkers = 4\nmodel = {model}\n[edit]\npaths = ["app/*.py"]\n'
    (here / "job.toml").write_text(head + "\n".join(lines))
    return here / "job.toml"


def test_what_a_model_writes_steers_no_terminal_where_the_run_tells_of_it(code: Path) -> None:
    answer = "<<<<<<< SEARCH\n\x1b[2Jgone\n=======\n>>>>>>> REPLACE"
    Path("rows.jsonl").write_text(json.dumps({"id": "a", "path": "app/m0.py", "scripted": answer}))
    words = ("--intents", "rows.jsonl", "--prompt", "{text}", "--format", "blocks", "--model", "scripted")
    done = call("run", "edit", "--repo", "code", "-o", "one", *words)
    assert "gone" in done.out
    assert "\x1b" not in done.out


def test_a_program_rewrites_a_call_and_hears_what_its_own_check_said(code: Path, here: Path) -> None:
    done = call("run", job_file(here), "--attempts", "2", "--json")
    assert done.code == 0, done.err
    assert ledger_of(Path("one")) == {"landed": 5}
    (sent,) = of_kind(Path("one"), "sent back")
    assert sent["intent"] == "edit:app/m3.py"
    assert sent["reason"].startswith("did not do on its own fork: verify edit:app/m3.py: ")
    assert "SyntaxError" in sent["reason"]
    assert git(Path("one/repo.git"), "show", "main:app/m3.py") == "def text3(x):\n    return new_call(x, 3)\n"
    assert "old_call" not in git(Path("one/repo.git"), "grep", "-h", "call", "main")
    assert {event["proof"] for event in of_kind(Path("one"), "change made")} == {"text of 1 files, form kept"}
    expect_each_once(Path("one"))
    expect_clean(Path("one"), full=True)


def test_what_never_does_is_sent_back_with_the_output_after_the_last_attempt(code: Path, here: Path) -> None:
    job = job_file(here, verify="sh -c 'echo not {path} >&2; test {path} != app/m1.py'")
    assert call("run", job, "--attempts", "3", "--json").code == 0
    assert ledger_of(Path("one")) == {"landed": 4, "sent back": 1}
    sent = of_kind(Path("one"), "sent back")
    assert [(event["intent"], event["attempt"]) for event in sent] == [("edit:app/m1.py", n) for n in (1, 2, 3)]
    assert "not app/m1.py" in sent[-1]["reason"]
    expect_clean(Path("one"), full=True)


def test_the_dry_run_shows_the_first_prompt_and_a_bad_field_is_named_with_its_place(code: Path, here: Path) -> None:
    plan = call("run", job_file(here), "--dry-run")
    assert "the first prompt:\n--- user\nReplace each call of old_call by new_call in app/m0.py." in plan.out
    assert not Path("one").exists()
    done = call("run", job_file(here, prompt="{text} {pth}"), "--dry-run")
    assert done.code == 2
    assert "the prompt names the field {pth}" in done.err
    done = call("run", job_file(here, format="patch"), "--dry-run")
    assert done.code == 2
    assert "job.toml: [edit]: `format` must be one of whole, blocks, diff" in done.err
    done = call("run", "edit", "--repo", "code", "--paths", "app/", "--prompt", "{text}", "-o", "one")
    assert done.code == 2
    assert "which model? The job edit has none of its own" in done.err
    assert not Path("one").exists()


def test_rows_with_checks_are_judged_by_the_gate(code: Path, here: Path) -> None:
    good = "<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE"
    bad = "<<<<<<< SEARCH\n    return old_call(x, 0)\n=======\n    return (\n>>>>>>> REPLACE"
    rows = [
        {"id": "good", "path": "app/other.py", "scripted": good, "checks": ["{python} -m ast {path}"]},
        {"id": "bad", "path": "app/m0.py", "scripted": bad, "checks": ["{python} -m ast {path}"]},
        {"id": "vague", "path": "app/m1.py", "scripted": "It is fine as it is, I think."},
        {"id": "outside", "path": "app/m1.py", "scripted": f"app/other.py\n{good}"},
        {"id": "none", "path": "app/m2.py", "scripted": "NO CHANGE"},
    ]
    (here / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ("--intents", "rows.jsonl", "--format", "blocks", "--prompt", "{path} {text}", "--model", "scripted")
    done = call("run", "edit", "--repo", "code", "-o", "one", "--json", *words)
    assert done.code == 0, done.err
    ended = {event["intent"]: (event["ending"], event["reason"]) for event in of_kind(Path("one"), "ended")}
    assert ended.pop("bad")[0] == "sent back"
    assert ended == {
        "vague": ("no answer", "no blocks edit: no search/replace block"),
        "outside": ("refused", "outside its scope: app/other.py"),
        "none": ("skipped", "the model says that nothing is to be changed"),
    }
    assert git(Path("one/repo.git"), "show", "main:app/other.py") == "x = 2\n"
    expect_clean(Path("one"), full=True)


def test_a_function_of_a_notebook_can_be_the_model(code: Path) -> None:
    async def renames(prompt: Prompt) -> str:
        new = prompt.facts["text"].replace("old_call(", "new_call(")
        return f"````\n{new}````"

    run = qb.run("edit", repo="code", out="one", model=renames, paths=["app/m*.py"], prompt="Rename in {path}: {text}")
    assert run.landings.height == 4
    assert run.verify(full=True)["ok"]


def test_a_replay_that_fails_the_own_check_is_told_so_and_done_again(code: Path, here: Path) -> None:
    rows = [{"id": str(number), "path": "app/other.py", "adds": f" + y{number}"} for number in range(2)]
    (here / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    both = asyncio.Event()
    asked: list[str] = []

    async def adds(prompt: Prompt) -> str:
        told = "\n".join(message.text for message in prompt.messages)
        asked.append(told)
        both.set() if len(asked) == 2 else await both.wait()
        again = "answered on an older text" in told
        more = " + (" if again and "The last answer did not do" not in told else prompt.facts["row"]["adds"]
        return f"```\n{prompt.facts['text'].rstrip()}{more}\n```"

    settings = {"intents": str(here / "rows.jsonl"), "prompt": "{text}", "verify": "{python} -m ast {path}"}
    run = qb.run("edit", repo="code", out="one", model=adds, workers=2, **settings)
    assert ledger_of(Path("one")) == {"landed": 2}
    assert len(asked) == 4
    assert "SyntaxError" in asked[-1].partition("The last answer did not do: ")[2]
    line = git(Path("one/repo.git"), "show", "main:app/other.py").strip()
    assert line in ("x = 1 + y0 + y1", "x = 1 + y1 + y0")
    assert run.verify(full=True)["ok"]


def test_a_program_is_found_beside_its_job_file_wherever_the_run_is_started_and_goes_on(
    code: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = job_file(here)
    monkeypatch.chdir(code / "app")
    done = call("run", f"../../{file.name}", "--out", here / "one", "--sample", "2", "--json")
    assert done.code == 0, done.err
    monkeypatch.chdir("/")
    assert call("resume", here / "one", "--json").code == 0
    assert ledger_of(here / "one") == {"landed": 4, "sent back": 1}
    expect_clean(here / "one", full=True)


@pytest.mark.parametrize("claims", ["off", "on"])
def test_rows_about_one_file_are_worked_on_one_by_one_where_intents_claim(code: Path, claims: str) -> None:
    lines = "".join(f"row{number} = {number}\n" for number in range(4))
    (code / "app" / "rows.py").write_text(lines)
    git(code, "add", "--all")
    git(code, "commit", "--quiet", "--message", "Rows")
    rows = [
        {
            "id": f"r{n}",
            "path": "app/rows.py",
            "scripted": f"<<<<<<< SEARCH\nrow{n} = {n}\n=======\nrow{n} = 1{n}\n>>>>>>> REPLACE",
        }
        for n in range(4)
    ]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = call(
        "run", "edit", "--repo", "code", "-o", "one", "-w", "8", "--intents", "rows.jsonl", "--model", "scripted",
        "--format", "blocks", "--prompt", "{text}", "--claims", claims, "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert ledger_of(Path("one")) == {"landed": 4}
    assert git(Path("one/repo.git"), "show", "main:app/rows.py") == lines.replace(" = ", " = 1")
    assert bool(of_kind(Path("one"), "collision")) is (claims == "off")
    assert len(of_kind(Path("one"), "held")) == (3 if claims == "on" else 0)
    expect_each_once(Path("one"))
    expect_clean(Path("one"))
