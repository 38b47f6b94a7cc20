from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from typer.testing import Result

from qodebase.runs import RunFolder

Call = Callable[..., Result]


def story(call: Call, intent: str) -> dict[str, Any]:
    result = call("log", "one", intent, "--json")
    assert result.exit_code == 0
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_log_has_a_line_for_each_ended_intent_in_the_order_in_which_they_ended(call: Call) -> None:
    result = call("log", "one")
    lines = result.stdout.splitlines()
    assert len(lines) == 6
    found = json.loads(call("log", "one", "--json").stdout)
    times = [line["at"] for line in found["intents"]]
    assert times == sorted(times)
    assert found["pending"] == 0
    assert set(found["intents"][0]) == {"intent", "at", "ending", "reason", "lane", "attempt", "redone", "commit"}
    assert "6 intents ended, 0 pending" in result.stderr


def test_a_line_says_what_redid_the_collisions_and_why_an_intent_did_not_land(call: Call) -> None:
    found = {line["intent"]: line for line in json.loads(call("log", "one", "--json").stdout)["intents"]}
    assert found["edit-0"]["redone"] == []
    assert found["edit-2"]["redone"] == ["model:slow"]
    assert (found["edit-3"]["ending"], found["edit-3"]["redone"]) == ("sent back", ["declined"])
    assert "nothing was said" in found["edit-5"]["reason"]
    text = call("log", "one").stdout
    assert "+1.00s" in text
    assert found["edit-2"]["commit"][:12] in text


def test_reasons_of_several_lines_stand_on_one_in_the_log_and_the_status(copy: RunFolder, call: Call) -> None:
    journal = copy.journal.read_text()
    assert "nothing was said" in journal
    copy.journal.write_text(journal.replace("nothing was said", "nothing\\n\\nwas said" + " at all" * 99))
    lines = call("log", str(copy.root)).stdout.splitlines()
    assert len(lines) == 6
    (line,) = [line for line in lines if "empty" in line]
    assert "nothing was said at all at all" in line
    assert line.endswith("... (`log RUN INTENT`)")
    (line,) = [line for line in call("status", str(copy.root)).stdout.splitlines() if "no answer" in line]
    assert "empty: nothing was said at all" in line
    assert line.endswith("...: 1")


def test_the_story_of_an_intent_holds_events_calls_changes_and_the_record_of_its_note(call: Call) -> None:
    found = story(call, "edit-2")
    kinds = [event["kind"] for event in found["events"]]
    assert kinds[0] == "admitted"
    assert kinds[-1] == "landed"
    assert {"asked", "answered", "change made", "queued", "train built", "judged", "collision"} <= set(kinds)
    assert [(call["purpose"], call["answer"]) for call in found["calls"]] == [("fresh", "# B2"), ("replay", "# B2")]
    assert found["calls"][1]["prompt"].endswith("Put '# B2' above b.py 1")
    assert "main has moved since" in found["calls"][1]["prompt"]
    assert len(found["changes"]) == 2
    assert found["record"]["intent"] == "edit-2"
    assert found["record"]["collisions"][0]["path"] == "b.py"
    assert found["record"]["usage"]["calls"] == 2
    assert found["trouble"] == []


def test_people_read_the_whole_story_in_words(call: Call) -> None:
    text = call("log", "one", "edit-2").stdout
    assert "--- as main has it now" in text
    assert "edit-2: landed as " in text
    assert "asked: Put '# B2' above b.py" in text
    assert "b.py (content) moved by 1 landed: redone by model:slow" in text
    assert "\ncollision of b.py in attempt 1, moved by edit-1\n  merge  " in text
    assert "declined: both sides changed the same lines\n" in text
    assert "  model:slow               redone\n  clash\n    b.py line 1\n" in text
    assert "used:  2 calls, 10 tokens in (0 cached), 4 out, $0.5000" in text
    assert "qodebase diff RUN edit-2" in text
    assert "replay: slow from provider, answer" in text
    assert "verdict        green" in text


def test_the_story_of_an_intent_that_did_not_land_has_no_record_and_says_why(call: Call) -> None:
    found = story(call, "edit-5")
    assert found["record"] is None
    assert found["ending"] == "no answer"
    assert found["calls"][0]["outcome"] == "empty"
    assert "edit-5: no answer: empty: nothing was said" in call("log", "one", "edit-5").stdout


def test_whole_prompts_are_shown_where_they_are_asked_for(call: Call) -> None:
    assert "more lines]" in call("log", "one", "edit-2").stdout
    whole = call("log", "one", "edit-2", "--prompts").stdout
    assert "more lines]" not in whole
    assert "Put '# B2' above b.py 1" in whole


def test_what_was_sent_back_is_told_in_the_words_that_the_next_attempt_hears(call: Call) -> None:
    text = call("log", "one", "edit-3").stdout
    assert text.count("collided and could not be redone") == 1
    assert "\nattempt 1 was sent back\n    b.py was moved by edit-1, edit-2\n" in text
    assert "used:  4 calls, 5 tokens in (0 cached), 2 out, $0.2500" in text


def test_a_story_says_what_all_its_calls_used(call: Call) -> None:
    assert story(call, "edit-2")["usage"] == {
        "calls": 2,
        "input_tokens": 10,
        "cached_tokens": 0,
        "output_tokens": 4,
        "cost_usd": 0.5,
    }
    assert story(call, "edit-4")["usage"]["cost_usd"] is None
    assert "cost not known" in call("log", "one", "edit-4").stdout


def test_a_call_that_a_kill_cut_off_has_no_end(copy: RunFolder, call: Call) -> None:
    lines = copy.journal.read_bytes().splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if b'"kind":"answered"' in line)
    copy.journal.write_bytes(b"".join(lines[:end]))
    found = story(call, "edit-0")
    assert found["ending"] == "pending"
    assert found["calls"][0]["outcome"] == ""
    assert "no end in the journal" in call("log", "one", "edit-0").stdout


def test_attempts_that_cannot_be_read_are_named_and_the_rest_is_told(copy: RunFolder, call: Call) -> None:
    for segment in copy.attempts.iterdir():
        segment.write_bytes(b"\0" * segment.stat().st_size)
    found = story(call, "edit-0")
    assert found["trouble"]
    assert found["record"]["intent"] == "edit-0"
    assert "cannot be read: attempts segment" in call("log", "one", "edit-0").stdout


def test_a_path_of_several_intents_is_refused_and_they_are_named(call: Call) -> None:
    result = call("log", "one", "b.py")
    assert result.exit_code == 2
    assert "edit-1, edit-2, edit-3" in result.stderr


def test_a_name_near_to_an_intent_is_answered_with_those_near_to_it(call: Call) -> None:
    result = call("log", "one", "edit-00")
    assert result.exit_code == 2
    assert "Near to it: edit-0" in result.stderr
