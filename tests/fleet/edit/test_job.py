"""The edit job by itself: rows, prompts, what answers may not do, and errors that say where a fault stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.jobs.edit.job import EditFiles
from fleet.jobs.edit.settings import Settings
from fleet.jobs.edit.template import BadTemplate
from fleet.making import Made, make_change
from qodebase.codec import BadData
from qodebase.collision import Entry
from qodebase.edits import blob_id, materialise
from qodebase.errors import QodebaseError
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.ports import Answer, Unusable

A, CR, LINK = RepoPath(b"app/a.py"), RepoPath(b"app/crlf.py"), RepoPath(b"app/link.py")
ASK = "Rewrite {path}:\n{text}"


class Files:
    """A tree of a few files in memory."""

    commit = CommitId("1" * 40)

    def __init__(self, files: dict[bytes, bytes], links: tuple[bytes, ...] = ()) -> None:
        self.files = {RepoPath(path): content for path, content in files.items()}
        self.links = links

    def entry(self, path: RepoPath) -> Entry | None:
        if path not in self.files:
            return None
        return Entry(0o120000 if path in self.links else 0o100644, blob_id(self.files[path]))

    def read(self, path: RepoPath) -> bytes:
        return self.files[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        for path in sorted(self.files):
            entry = self.entry(path)
            assert entry is not None
            yield path, entry


TREE = Files(
    {
        b"app/a.py": b"a = 1\n",
        b"app/b.py": b"b = 2\n",
        b"app/bin.py": b"a\0b",
        b"app/crlf.py": b"\xef\xbb\xbfone\r\ntwo",
        b"app/large.py": b"x" * 500,
        b"app/latin.py": b"# \xe9\n",
        b"app/link.py": b"a.py",
        b"app/mixed.py": b"a\r\nb\n",
        b"check.sh": b"exit 0\n",
        b"docs/t.md": b"# T\n",
    },
    links=(b"app/link.py",),
)


def job(**settings: Any) -> EditFiles:
    made = EditFiles(Settings(**{"prompt": ASK, "max_bytes": 400, **settings}))
    made.open(TREE)
    return made


def rows(tmp_path: Path, *lines: Any) -> str:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(file)


def answered(made: EditFiles, intent: Intent, text: str) -> Made | Unusable:
    return make_change(made, intent, Answer(text=text, model="m"), TREE, ())


def test_each_file_of_the_patterns_is_an_intent_and_what_no_model_can_edit_is_skipped() -> None:
    found = {intent.id: intent for intent in job(paths=("app/**",), exclude=("app/b.py",)).intents()}
    assert {id: intent.reason for id, intent in found.items() if intent.ending is Ending.SKIPPED} == {
        "edit:app/bin.py": "binary",
        "edit:app/large.py": "larger than 400 bytes",
        "edit:app/latin.py": "no UTF-8 text",
        "edit:app/link.py": "a symbolic link",
        "edit:app/mixed.py": "mixed line ends",
    }
    assert [id for id, intent in found.items() if intent.ending is Ending.PENDING] == [
        "edit:app/a.py",
        "edit:app/crlf.py",
    ]
    assert found["edit:app/a.py"].asked == "Edit app/a.py: Rewrite app/a.py:"
    assert found["edit:app/a.py"].scope == (A,)


def test_only_files_that_hold_what_is_sought_are_asked_about() -> None:
    assert [intent.scope for intent in job(paths=("**",), contains=r"^a = \d").intents()] == [(A,)]
    sought = job(paths=("**",), contains="^# .|b$|xxx|a.py")
    assert {intent.scope[0].text: intent.reason for intent in sought.intents()} == {
        "app/large.py": "larger than 400 bytes",
        "app/latin.py": "no UTF-8 text",
        "app/mixed.py": "mixed line ends",
        "docs/t.md": "",
    }


def test_the_scope_takes_in_more_files_and_the_prompt_shows_only_the_own_one() -> None:
    made = job(paths=("app/a.py",), scope=("docs/**",))
    (intent,) = made.intents()
    assert intent.scope == (A, RepoPath(b"docs/t.md"))
    prompt = made.prompt(intent, TREE)
    assert prompt.messages[-1].text.startswith("Rewrite app/a.py:\na = 1\n")
    assert "below a line with nothing but its path" in prompt.messages[-1].text
    assert prompt.shows == (A,)
    outcome = answered(made, intent, "docs/t.md\n```\n# Title\n```")
    assert isinstance(outcome, Made)
    assert outcome.change.paths == (RepoPath(b"docs/t.md"),)


def test_a_row_gives_its_fields_to_the_prompt_and_its_wishes_to_the_intent(tmp_path: Path) -> None:
    file = rows(
        tmp_path,
        {"id": 7, "path": "app/a.py", "why": "slow", "checks": ["{python} -m ast {path}"], "priority": 10},
        "",
        {"id": "two", "paths": ["app/a.py", "app/b.py"], "why": ["x"], "asked": "Both", "after": ["7"]},
    )
    made = job(intents=file, prompt="Be kind.\n---\n{id}: {why} {{now}} in {paths}\n{text}", scope=("docs/t.md",))
    one, two = made.intents()
    assert (one.id, one.priority, one.checks) == ("7", 10, ("7",))
    assert made.checks()["7"].command[1:] == ("-m", "ast", "app/a.py")
    assert (two.asked, two.after, two.scope[:2]) == ("Both", ("7",), (A, RepoPath(b"app/b.py")))
    system, question = made.prompt(two, TREE).messages
    assert (system.role, system.text) == ("system", "Be kind.")
    assert question.text.startswith('two: ["x"] {now} in app/a.py app/b.py\n=== app/a.py\na = 1\n\n=== app/b.py')


def test_a_row_may_name_a_file_that_is_to_be_made(tmp_path: Path) -> None:
    made = job(intents=rows(tmp_path, {"id": "t", "path": "app/a.py", "scope": ["tests/test_a.py", "docs/*"]}))
    (intent,) = made.intents()
    assert intent.scope == (A, RepoPath(b"tests/test_a.py"), RepoPath(b"docs/t.md"))
    outcome = answered(made, intent, "tests/test_a.py\n```\ndef test_a():\n    pass\n```")
    assert isinstance(outcome, Made)
    edit = materialise(outcome.change, TREE)[RepoPath(b"tests/test_a.py")]
    assert edit is not None
    assert (edit.mode, edit.content) == (0o100644, b"def test_a():\n    pass\n")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "line 2: no JSON: "),
        ("[1]", "line 2: a row must be an object, not [1]"),
        ({"path": "app/a.py"}, "line 2: no `id`"),
        ({"id": "first", "path": "app/a.py"}, "line 2: `id` 'first' stands in line 1 too"),
        ({"id": "x"}, "line 2: a row needs `path` or `paths`, one of the two"),
        ({"id": "x", "path": "app/none.py"}, "line 2: `path` app/none.py: there is no such file on the branch"),
        ({"id": "x", "path": "../a.py"}, "line 2: `path` ../a.py: it has the part .."),
        ({"id": "x", "path": "app/a.py", "scope": [".git/x"]}, "line 2: `scope` .git/x: it names git's own folder"),
        ({"id": "x", "path": ["app/a.py"]}, "line 2: Expected `str`, got `array` - at `$.path`"),
        ({"id": "x", "path": "app/a.py", "priority": 300}, "line 2: `priority` must be 0 to 255, not 300"),
        ('{"id": "x", "path": "app/a\\ud800.py"}', "line 2: it holds half of a surrogate pair"),
        ('{"id": "x", "path": "app/a.py", "more": "\\udfff"}', "line 2: it holds half of a surrogate pair"),
        ('{"id": "x", "path": "app/a.py", "more": ' + "[" * 100_000, "line 2: no JSON: "),
    ],
)
def test_a_fault_of_a_row_names_file_line_and_field(tmp_path: Path, line: Any, why: str) -> None:
    file = rows(tmp_path, {"id": "first", "path": "app/a.py"}, line)
    with pytest.raises(BadData) as caught:
        list(job(intents=file).intents())
    assert caught.value.message.startswith(f"{file} {why}")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"prompt": ""}, "what is to be done? there is no prompt"),
        ({"prompt_file": "x"}, "both `prompt` and `prompt_file`"),
        ({"prompt": "", "prompt_file": "/nowhere"}, "the prompt /nowhere cannot be read: No such file or directory"),
        ({"prompt": "Do it."}, "the prompt does not show the file"),
        ({"prompt": "{text} {wy}"}, "the prompt names the field {wy}, which there is not"),
        ({"verify": "nowhere-to-be-found {path}"}, "`verify` runs nowhere-to-be-found: no such command here"),
        ({"verify": "./tools/check.sh"}, "`verify` runs ./tools/check.sh: the repository has no such file"),
        ({"verify": "sh -c 'echo"}, "`verify` is no command: No closing quotation"),
        ({"verify": "sh {what}"}, "`verify` names the field {what}, which there is not"),
        ({"paths": ()}, "which files are to be edited?"),
        ({"intents": "x"}, "`paths` and `intents` exclude each other"),
        ({"contains": "("}, "`contains` is no regular expression: "),
    ],
)
def test_a_fault_of_the_settings_is_found_before_any_work(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(QodebaseError) as caught:
        list(job(**{"paths": ("app/a.py",), **settings}).intents())
    assert caught.value.message.startswith(why)
    assert caught.value.hint or "regular" in why


def test_a_row_may_be_numbered_from_nought(tmp_path: Path) -> None:
    file = rows(tmp_path, {"id": 0, "path": "app/a.py"}, {"id": 1, "path": "app/b.py"})
    assert [intent.id for intent in job(intents=file).intents()] == ["0", "1"]


def test_a_check_that_is_called_like_one_of_another_row_does_not_take_its_place(tmp_path: Path) -> None:
    file = rows(
        tmp_path,
        {"id": "a", "path": "app/a.py", "checks": ["true", "false"]},
        {"id": "a 2", "path": "app/b.py", "checks": ["true"]},
    )
    with pytest.raises(BadData, match="line 2: its check 'a 2' is called like one of another row"):
        list(job(intents=file).intents())


def test_a_command_that_no_process_could_be_given_is_found_before_any_work(tmp_path: Path) -> None:
    file = rows(tmp_path, {"id": "a", "path": "app/a.py", "word": "a\0b"})
    with pytest.raises(BadTemplate, match=r"`verify` would hold a NUL \(.* line 1\)"):
        list(job(intents=file, verify="true {word}").intents())


@pytest.mark.parametrize("content", [b"a\r\r\nb\r\n", b"\xef\xbb\xbf\xef\xbb\xbfa\n"])
def test_a_file_whose_form_would_not_give_it_back_is_skipped(content: bytes) -> None:
    made = EditFiles(Settings(prompt=ASK, paths=("*.py",)))
    made.open(Files({b"odd.py": content}))
    assert [intent.reason for intent in made.intents()] == ["odd line ends or beginning"]


def test_a_field_that_one_row_lacks_names_that_row(tmp_path: Path) -> None:
    file = rows(tmp_path, {"id": "1", "path": "app/a.py", "why": "x"}, {"id": "2", "path": "app/b.py"})
    with pytest.raises(BadTemplate, match=r"the prompt \(.* line 2\) names the field \{why\}"):
        list(job(intents=file, prompt="{why} {text}").intents())


@pytest.mark.parametrize(
    ("answer", "ending", "why"),
    [
        ("```\na = 2", Ending.NO_ANSWER, "no whole edit: the fenced block is not closed: was the answer cut off?"),
        ("NO CHANGE.", Ending.SKIPPED, "the model says that nothing is to be changed"),
        ("```\na = 1\n```", Ending.SKIPPED, "the answer leaves everything as it is"),
        ("app/b.py\n```\nb = 3\n```", Ending.REFUSED, "outside its scope: app/b.py"),
        ("```\na\0\n```", Ending.REFUSED, "app/a.py: it holds a NUL, so it is binary"),
        (f"```\n{'y' * 400}\n```", Ending.REFUSED, "app/a.py: oversized, 401 bytes"),
        ("```\n\ud800\n```", Ending.REFUSED, "app/a.py: it holds characters that UTF-8 cannot hold"),
    ],
)
def test_an_answer_that_may_not_be_ends_its_intent_with_the_reason(answer: str, ending: Ending, why: str) -> None:
    made = job(paths=("app/a.py",))
    (intent,) = made.intents()
    assert answered(made, intent, answer) == Unusable(ending=ending, why=why)


def test_an_edited_file_keeps_its_line_ends_its_beginning_and_its_end() -> None:
    made = job(paths=("app/crlf.py",))
    (intent,) = made.intents()
    assert "one\ntwo\n" in made.prompt(intent, TREE).messages[0].text
    outcome = answered(made, intent, "```\none\nand two\n```")
    assert isinstance(outcome, Made)
    edit = materialise(outcome.change, TREE)[CR]
    assert edit is not None
    assert edit.content == b"\xef\xbb\xbfone\r\nand two"
    assert outcome.proof == "text of 1 files, form kept"


def test_a_whole_answer_that_looks_like_a_part_is_none_unless_it_is_allowed() -> None:
    tree = Files({b"app/a.py": b"".join(b"x%d = 1\n" % number for number in range(50))})
    part = "```\nx0 = 2\n```"
    for settings, told in (({}, "app/a.py has only 1 of 50 lines"), ({"least_left": 0.0}, "")):
        made = EditFiles(Settings(prompt=ASK, paths=("**",), **settings))
        made.open(tree)
        (intent,) = made.intents()
        outcome = make_change(made, intent, Answer(text=part, model="m"), tree, ())
        assert told in outcome.why if isinstance(outcome, Unusable) else not told


def test_an_answer_that_only_loses_blanks_changes_nothing_unless_it_is_meant() -> None:
    tree = Files({b"app/a.py": b"def f():\n\treturn 1  \n"})
    for blanks, wanted in (("keep", None), ("free", b"def f():\n    return 1\n")):
        made = EditFiles(Settings(prompt=ASK, paths=("**",), blanks=blanks))
        made.open(tree)
        (intent,) = made.intents()
        outcome = make_change(made, intent, Answer(text="```\ndef f():\n    return 1\n```", model="m"), tree, ())
        if isinstance(outcome, Unusable):
            assert (outcome.ending, wanted) == (Ending.SKIPPED, None)
            assert "nothing but tabs or blanks" in outcome.why
        else:
            edit = materialise(outcome.change, tree)[A]
            assert edit is not None
            assert edit.content == wanted


def test_a_file_that_became_a_link_meanwhile_is_not_written() -> None:
    made = job(paths=("app/a.py",))
    (intent,) = made.intents()
    moved = Files({b"app/a.py": b"b.py"}, links=(b"app/a.py",))
    outcome = make_change(made, intent, Answer(text="```\na = 2\n```", model="m"), moved, ())
    assert outcome == Unusable(ending=Ending.REFUSED, why="app/a.py is a symbolic link now")
    assert "[a symbolic link]" in made.prompt(intent, moved).messages[0].text


def test_the_digest_follows_prompt_and_rows(tmp_path: Path) -> None:
    file = rows(tmp_path, {"id": "1", "path": "app/a.py"})
    before = job(intents=file).digest
    assert job(intents=file).digest == before
    assert job(intents=file, prompt="{text}!").digest != before
    rows(tmp_path, {"id": "2", "path": "app/a.py"})
    assert job(intents=file).digest != before
