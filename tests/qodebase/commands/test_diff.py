from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import Result

from qodebase.commands.support.shown import shown_changes
from qodebase.runs import RunFolder

Call = Callable[..., Result]


def changes_of(call: Call, *arguments: str) -> list[dict[str, Any]]:
    result = call("diff", "one", *arguments, "--json")
    assert result.exit_code == 0
    found: list[dict[str, Any]] = json.loads(result.stdout)["changes"]
    return found


def test_the_diff_of_a_landed_change_is_its_commits_own(home: Path, call: Call) -> None:
    landed = [change for change in changes_of(call) if change["commit"]]
    assert [change["intent"] for change in landed][:2] == ["edit-0", "edit-1"]
    assert len(landed) == 4
    for change in landed:
        words = ["git", "show", "--format=", "--unified=3", "--no-color", change["commit"]]
        shown = subprocess.run(words, cwd=home / "runs/one/repo.git", capture_output=True, check=True, text=True)
        wanted = [line for line in shown.stdout.splitlines() if line[:1] in "+- " and line]
        assert [line for line in change["diff"].splitlines() if line[:1] in "+- " and line] == wanted


def test_a_change_that_did_not_land_is_shown_against_the_base_that_it_was_made_on(home: Path, call: Call) -> None:
    (change,) = [change for change in changes_of(call) if not change["commit"]]
    assert (change["intent"], change["ending"]) == ("edit-3", "sent back")
    assert change["against"] == RunFolder(home / "runs/one").settings().base
    assert change["diff"] == (
        "diff --git a/b.py b/b.py\n--- a/b.py\n+++ b/b.py\n@@ -1,1 +1,2 @@\n+# fails\n name = 'b'\n"
    )
    assert change["reason"]


def test_each_change_comes_with_its_prompt_and_its_proof(call: Call) -> None:
    (change,) = changes_of(call, "edit-0")
    assert change["proof"] == "nothing promised"
    assert change["prompt"] == "[user]\nPut '# A' above a.py 0"
    text = call("diff", "one", "edit-0").stdout
    assert "edit-0: landed as " in text
    assert "proof: nothing promised" in text
    assert "    Put '# A' above a.py 0" in text
    assert "+# A" in text
    assert "\x1b[" not in text


def test_an_intent_is_found_by_its_id_by_its_path_and_by_its_commit(call: Call) -> None:
    (by_id,) = changes_of(call, "edit-4")
    assert changes_of(call, "c.py") == changes_of(call, by_id["commit"][:10]) == [by_id]
    assert {change["intent"] for change in changes_of(call, "b.py")} == {"edit-1", "edit-2", "edit-3"}


def test_the_limit_cuts_the_list_and_says_so(call: Call) -> None:
    result = call("diff", "one", "--limit", "2")
    assert result.stdout.count("diff --git") == 2
    assert "--limit 0 shows all" in result.stderr
    assert json.loads(call("diff", "one", "--limit", "2", "--json").stdout)["more"] is True
    everything = call("diff", "one", "--limit", "0")
    assert everything.stdout.count("diff --git") == 5
    assert everything.stderr == ""


def test_the_field_names_of_a_change_stay_as_scripts_know_them(call: Call) -> None:
    assert set(changes_of(call)[0]) == {
        *("intent", "asked", "ending", "reason", "attempt", "commit", "against", "paths", "proof", "sanitised"),
        *("prompt", "diff"),
    }


def test_an_intent_without_a_change_is_refused_and_the_log_pointed_at(call: Call) -> None:
    result = call("diff", "one", "edit-5")
    assert result.exit_code == 2
    assert "no change to show: edit-5 is no answer (empty: nothing was said)" in result.stderr
    assert "qodebase log" in result.stderr


def test_a_landing_that_a_killed_process_did_not_write_down_is_shown_as_made(
    killed: Callable[[str], RunFolder],
) -> None:
    changes = list(shown_changes(killed("edit-2")))
    assert [bool(change.commit) for change in changes] == [True, True, True, False, False]
    found = {change.intent: change for change in changes}
    assert found["edit-2"].commit == ""
    assert found["edit-2"].ending == "pending"
    assert "+# B2" in found["edit-2"].diff


def test_a_terminal_gets_colour_and_no_control_characters_of_a_change(copy: RunFolder) -> None:
    code = "from qodebase.cli import main; main()"
    journal = copy.journal.read_text()
    assert "nothing promised" in journal
    copy.journal.write_text(journal.replace("nothing promised", "nothing \\u001b[2J promised"))
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm"}
    words = [sys.executable, "-c", code, "diff", "one", "edit-0"]
    subprocess.run(words, stdout=theirs, env=environment, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert b"\x1b[32m+# A\x1b[0m" in shown
    assert b"nothing \\x1b[2J promised" in shown
