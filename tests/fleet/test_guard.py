from __future__ import annotations

from collections.abc import Iterator

import pytest

from fleet.guard import BadSecretsUse, Cleared, Guard, SecretsUse, Withheld, guard_of, skip_forbidden
from fleet.secrets import placeholder
from fleet.sent_back_text import with_sent_back
from qodebase.change import REGULAR, SYMLINK
from qodebase.collision import Entry
from qodebase.events import SentBack
from qodebase.intent import Ending, Intent
from qodebase.paths import CommitId, RepoPath
from qodebase.patterns import BadPattern
from qodebase.ports import Answer, Failure, Message, NoAnswer, Prompt
from qodebase.privacy import PrivacySettings
from tests.support.made_secrets import SECRETS

SECRET = SECRETS["AWS Access Key"]
CODE = f"import boto\n\nKEY = '{SECRET}'\n"


class Files:
    """The code at a commit, from a table."""

    commit = CommitId("0" * 40)

    def __init__(self, **files: str) -> None:
        self.files = {RepoPath(name.replace("__", ".").encode()): text.encode() for name, text in files.items()}

    def entry(self, path: RepoPath) -> Entry | None:
        content = self.files.get(path)
        return None if content is None else Entry(SYMLINK if content.startswith(b"->") else REGULAR, "")

    def read(self, path: RepoPath) -> bytes:
        return self.files[path]

    def walk(self) -> Iterator[tuple[RepoPath, Entry]]:
        return iter([(path, Entry(REGULAR, "")) for path in self.files])


def path(name: str) -> RepoPath:
    return RepoPath(name.encode())


def prompt(text: str, *shows: str) -> Prompt:
    return Prompt(
        messages=(Message(role="system", text="Be brief."), Message(role="user", text=text)),
        max_output_tokens=9,
        shows=tuple(map(path, shows)),
    )


def answer(text: str) -> Answer:
    return Answer(text=text, model="m", input_tokens=7, output_tokens=3, cost_usd=0.5)


def test_a_prompt_with_a_secret_is_withheld_with_path_line_and_kind_and_never_the_value() -> None:
    found = Guard().clear(prompt(f"File: a.py\n{CODE}"), Files(a__py=CODE), [path("a.py")])
    assert found == Withheld(failure=Failure.SECRET, shown=("AWS Access Key in a.py line 3",))
    assert found.why == "AWS Access Key in a.py line 3"


def test_a_secret_that_stands_in_no_shown_file_is_placed_in_the_prompt() -> None:
    for tree in (Files(a__py="x = 1\n", b__py=CODE), None):
        found = Guard().clear(prompt(f"\n{SECRET}"), tree, [path("a.py"), path("gone.py")])
        assert isinstance(found, Withheld)
        assert found.why == "AWS Access Key in line 2 of the prompt"


def test_files_that_a_prompt_names_itself_count_as_shown() -> None:
    found = Guard().clear(prompt(CODE, "b.py"), Files(a__py="x = 1\n", b__py=f"\n\n{CODE}"), [path("a.py")])
    assert isinstance(found, Withheld)
    assert found.why == "AWS Access Key in b.py line 5"


def test_a_link_is_not_read() -> None:
    found = Guard().clear(prompt(SECRET), Files(a__py=f"->{SECRET}"), [path("a.py")])
    assert isinstance(found, Withheld)
    assert found.why == "AWS Access Key in line 1 of the prompt"


def test_only_so_many_secrets_are_named() -> None:
    text = "\n".join([SECRET] * 8)
    found = Guard().clear(prompt(text), Files(), [])
    assert isinstance(found, Withheld)
    assert len(found.shown) == 8
    assert found.why.endswith("line 5 of the prompt, 3 more")


def test_a_clean_prompt_is_sent_as_it_is() -> None:
    asked = prompt("x = 1")
    assert Guard().clear(asked, Files(), []) == Cleared(prompt=asked)


def test_a_secret_is_replaced_by_a_placeholder_and_named() -> None:
    guard = Guard(secrets=SecretsUse.REDACT)
    cleared = guard.clear(prompt(CODE), Files(a__py=CODE), [path("a.py")])
    assert isinstance(cleared, Cleared)
    assert cleared.prompt.messages[1].text == "import boto\n\nKEY = '[secret: AWS Access Key]'\n"
    assert cleared.replaced == ("AWS Access Key in a.py line 3",)
    assert cleared.prompt.digest != prompt(CODE).digest


def test_an_answer_with_a_placeholder_is_not_used_and_its_cost_counts() -> None:
    guard = Guard(secrets=SecretsUse.REDACT)
    cleared = guard.clear(prompt(CODE), Files(), [])
    assert isinstance(cleared, Cleared)
    said = guard.screen(cleared, answer(f"KEY = {placeholder('AWS Access Key')}"))
    assert isinstance(said, NoAnswer)
    assert (said.failure, said.cost_usd, said.input_tokens, said.retry) == (Failure.SECRET, 0.5, 7, False)
    other = answer("The text [secret: something else] was always there.")
    assert guard.screen(cleared, other) is other


def test_an_answer_that_brings_a_new_secret_is_not_used() -> None:
    guard = Guard()
    said = guard.screen(Cleared(prompt=prompt("x = 1")), answer(f"Use it:\n{SECRET}"))
    assert isinstance(said, NoAnswer)
    assert said.why == "AWS Access Key in line 2 of the answer"
    assert SECRET not in str(said)


def test_an_answer_may_repeat_what_the_prompt_showed() -> None:
    repeated = answer(f"See {SECRET}")
    assert Guard().screen(Cleared(prompt=prompt(CODE)), repeated) is repeated


def test_where_secrets_are_allowed_nothing_is_looked_at() -> None:
    guard = Guard(secrets=SecretsUse.ALLOW)
    asked, said = prompt(CODE), answer(SECRET)
    assert guard.clear(asked, Files(), []) == Cleared(prompt=asked)
    assert guard.screen(Cleared(prompt=prompt("")), said) is said


def test_users_patterns_count_for_prompts_and_answers() -> None:
    guard = guard_of(PrivacySettings(patterns={"corp id": (r"corp-\d{4}",)}))
    found = guard.clear(prompt("corp-1234"), None, [])
    assert isinstance(found, Withheld)
    assert found.why == "corp id in line 1 of the prompt"
    assert isinstance(guard.screen(Cleared(prompt=prompt("")), answer("corp-1234")), NoAnswer)


def test_a_prompt_that_shows_a_forbidden_path_is_withheld_also_where_secrets_are_allowed() -> None:
    guard = Guard(secrets=SecretsUse.ALLOW, never_send=["vendor/**", "!vendor/open.py"])
    tree = Files()
    found = guard.clear(prompt("text", "vendor/a.py"), tree, [path("app.py")])
    assert found == Withheld(failure=Failure.NEVER_SENT, shown=("vendor/a.py (a path that is never sent)",))
    assert isinstance(guard.clear(prompt("text", "vendor/open.py"), tree, [path("app.py")]), Cleared)


def test_a_prompt_that_shows_a_file_of_a_forbidden_licence_is_withheld() -> None:
    guard = Guard(licences=["GPL-2.0", "LicenseRef-*"])
    tree = Files(
        a__py="# SPDX-License-Identifier: GPL-2.0-only\n",
        b__py="x = 1\n",
        b__py__license="SPDX-License-Identifier: LicenseRef-Corp\n",
        c__py="# SPDX-License-Identifier: MIT\n",
    )
    whys = [guard.forbidden(path(name), tree) for name in ("a.py", "b.py", "c.py", "gone.py")]
    assert whys == ["a.py (licence GPL-2.0-only)", "b.py (licence LicenseRef-Corp)", "", ""]


def test_intents_about_forbidden_files_are_skipped_before_any_work() -> None:
    intents = [
        Intent(id="one", asked="", scope=(path("a.py"), path("vendor/b.py"))),
        Intent(id="two", asked="", scope=(path("a.py"),)),
        Intent(id="three", asked="", scope=(path("vendor/b.py"),), ending=Ending.REFUSED, reason="its own"),
    ]
    found = skip_forbidden(intents, Guard(never_send=["vendor/"]), Files())
    assert [(intent.ending, intent.reason) for intent in found] == [
        (Ending.SKIPPED, "never sent: vendor/b.py (a path that is never sent)"),
        (Ending.PENDING, ""),
        (Ending.REFUSED, "its own"),
    ]


def test_settings_that_cannot_be_used_are_an_error() -> None:
    with pytest.raises(BadSecretsUse, match="'hide'"):
        guard_of(PrivacySettings(secrets="hide"))
    with pytest.raises(BadPattern):
        guard_of(PrivacySettings(never_send=("!",)))


TRACE = """/tmp/checks/tree-1/vendor/deep/hidden.py:7: in reckon
    return the_secret_of_the_house(7)
E   AssertionError"""


def sent_back(text: str) -> Prompt:
    return with_sent_back(prompt("Do it."), SentBack(attempt=1, reason=f"checks failed:\n{text}"))


def test_what_a_check_printed_of_a_file_that_is_never_sent_is_left_out_and_all_else_is_sent() -> None:
    code = Files(**{"vendor/deep/hidden__py": "def reckon(): ...", "vendor/open__py": "# SPDX-License-Identifier: MIT"})
    guard = Guard(never_send=["vendor/deep/"], licences=["MIT"])
    for given in (sent_back(TRACE), sent_back(TRACE.replace("/deep/hidden", "/open"))):
        cleared = guard.clear(given, code, [])
        assert isinstance(cleared, Cleared)
        told = cleared.prompt.messages[-1].text
        assert "the_secret_of_the_house" not in told
        assert "[left out: it names vendor/" in told
        assert told.startswith("Attempt 1 at what follows was sent back.")
        assert told.endswith("Do it.")
    for given in (sent_back(TRACE.replace("vendor/deep", "app")), sent_back(TRACE.replace("hidden.py", "gone.py"))):
        assert guard.clear(given, code, []) == Cleared(prompt=given)
    assert Guard().clear(sent_back(TRACE), code, []) == Cleared(prompt=sent_back(TRACE))
