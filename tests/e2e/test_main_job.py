"""The main job on a small real codebase, as a user sees it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from world import BOM, CRLF, LATIN, NO_NEWLINE, ODD, SCRIPT, Done, Shell, call, git, make_codebase, of_kind, state_of


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A run that has ended: the shell it ran in, the user's repository, and what was seen before and after."""

    shell: Shell
    code: Path
    run: Path
    done: Done
    before: dict[str, str]
    after: dict[str, str]

    @property
    def copy(self) -> Path:
        """Return the repository that was landed on."""
        return self.run / "repo.git"

    def landed(self, path: bytes) -> bytes:
        """Return a file as it is on the copy's main."""
        words = [b"git", b"-C", bytes(self.copy), b"cat-file", b"blob", b"main:" + path]
        return subprocess.run(words, capture_output=True, check=True).stdout


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """The job, run as a process; nobody may change what it left."""
    root = tmp_path_factory.mktemp("main job")
    code = make_codebase(root / "the code")
    shell = Shell(root)
    before = state_of(code)
    done = shell("run", "document", "--repo", "the code", "-w", "50", "--author", "Ada L. <ada@example.org>")
    after = state_of(code)
    return World(
        shell=shell, code=code, run=root / "runs" / "document-the code-1", done=done, before=before, after=after
    )


def test_every_eligible_file_lands_and_every_other_has_its_reason(world: World) -> None:
    status = call("status", world.run, "--json").data
    ledger = {ending: count for ending, count in status["ledger"].items() if count}
    assert set(ledger) == {"landed", "skipped"}
    assert ledger["landed"] >= 40
    kinds = {reason.partition(":")[0] for reason in status["reasons"]["skipped"]}
    assert kinds == {"already documented", "generated", "empty", "symlink", "vendored"}
    assert {f"document:{name}" for name in ("odd/with space.py", "web/shown.js", "web/types.ts")} <= {
        event["intent"] for event in of_kind(world.run, "landed")
    }
    touched = git(world.copy, "diff", "-z", "--name-only", f"{status['base']}..main").encode(errors="surrogateescape")
    assert set(ODD) <= set(touched.split(b"\0"))


def test_an_audit_of_everything_finds_nothing(world: World) -> None:
    for words in ((), ("--full",)):
        done = call("verify", world.run, *words)
        assert done.code == 0, done.out
        assert "every check is satisfied" in done.out
        assert "WRONG" not in done.out
        assert "not checked" not in done.out


def test_the_index_holds_the_lines_of_the_landed_files_sorted_and_once(world: World) -> None:
    lines = [line for line in world.landed(b"docs/API_INDEX.md").splitlines() if line.startswith(b"- `")]
    assert len(lines) > 40
    assert len(set(lines)) == len(lines)
    keys = [tuple(line.split(b"`")[1:4:2]) for line in lines]
    assert keys == sorted(keys)
    named = {path for path, _ in keys}
    assert b"odd/crlf.py" in named
    assert b"vendor/theirs.py" not in named


@pytest.mark.parametrize("content", [CRLF, LATIN, BOM, SCRIPT, NO_NEWLINE])
def test_bytes_around_the_header_stay_as_they_were(content: bytes, world: World) -> None:
    path = next(name for name, (written, _) in ODD.items() if written == content)
    now = world.landed(path)
    start = next(at for at, (one, two) in enumerate(zip(content, now, strict=False)) if one != two)
    added = len(now) - len(content)
    assert added > 0
    assert any(now[:at] + now[at + added :] == content for at in range(max(0, start - 3), start + 1))
    assert (b"\r\n" in now) == (b"\r\n" in content)
    assert now.count(b"\n") == now.count(b"\r\n") or b"\r\n" not in content
    assert now.endswith(b"\n") == content.endswith(b"\n")
    assert now.startswith(b"\xef\xbb\xbf") == content.startswith(b"\xef\xbb\xbf")


def test_modes_and_links_stay_as_they_were(world: World) -> None:
    assert git(world.copy, "ls-tree", "main", "odd/script.py").startswith("100755 ")
    assert git(world.copy, "ls-tree", "main", "odd/link.py").startswith("120000 ")
    modes = set(re.findall(r"^:(\d+ \d+)", git(world.copy, "diff", "--raw", "main~1", "main"), re.MULTILINE))
    assert modes <= {"100644 100644", "100755 100755"}


def test_the_users_repository_is_only_read(world: World) -> None:
    assert world.after == world.before


def test_plain_git_shows_commits_with_author_and_trailers_and_their_notes(world: World) -> None:
    log = git(world.copy, "log", "--notes=qodebase", "main", "--not", "main~1")
    assert "Author: Ada L. <ada@example.org>" in log
    assert "Notes (qodebase):" in log
    for trailer in ("Run", "Intent", "Attempt", "Lane", "Train", "Replay"):
        assert re.search(rf"^ +\S*{trailer}: ", log, re.MULTILINE), trailer
    assert "someone's own note" in git(world.copy, "log", "--notes=review", "main")
    landed = len(of_kind(world.run, "landed"))
    assert len(git(world.copy, "notes", "--ref=qodebase", "list").splitlines()) == landed
    assert git(world.copy, "fsck", "--strict", "--no-dangling") == ""


def test_the_commands_that_the_end_prints_bring_main_and_the_notes_over(world: World, tmp_path: Path) -> None:
    where = tmp_path / "the code"
    shutil.copytree(world.code, where, symlinks=True)
    printed = [line.strip() for line in world.done.out.splitlines() if line.startswith("  git ")]
    assert len(printed) == 3
    for command in printed:
        here = command.replace(str(world.code), str(where))
        subprocess.run(here, shell=True, check=True, capture_output=True, env=world.shell.environment)
    assert git(where, "rev-parse", "main") == git(world.copy, "rev-parse", "main")
    assert git(where, "status", "--porcelain") == ""
    assert "Notes (qodebase):" in git(where, "log", "-1", "--notes=qodebase")
    audit = call("verify", where, "--json").data
    assert audit["ok"]
    assert audit["not_checked"]


def test_the_commands_for_a_branch_that_is_not_checked_out_leave_the_other_alone(here: Path) -> None:
    code = make_codebase(here / "code")
    git(code, "branch", "side")
    git(code, "commit", "--quiet", "--allow-empty", "--message", "more on main")
    main = git(code, "rev-parse", "main")
    done = call("run", "document", "--repo", code, "--branch", "side", "-o", "one", "--paths", "odd/c*.py", "--json")
    assert done.code == 0, done.err
    for command in done.data["take_over"]:
        subprocess.run(command, shell=True, check=True, capture_output=True)
    assert git(code, "rev-parse", "main") == main
    assert git(code, "rev-parse", "side") == git(here / "one" / "repo.git", "rev-parse", "side")


def test_a_sample_is_spread_and_the_rest_goes_on_in_steps(codebase: Path, here: Path) -> None:
    done = call("run", "document", "--repo", codebase, "-o", "one", "--sample", "12", "--seed", "7", "--json")
    assert done.code == 0, done.err
    assert done.data["ledger"]["landed"] == 12
    assert done.data["stopped"] == "limit"
    landed = [event["intent"].partition(":")[2] for event in of_kind(here / "one", "landed")]
    assert {path.rpartition(".")[2].strip('"') for path in landed} == {"py", "js", "ts"}
    again = call("run", "document", "--repo", codebase, "-o", "two", "--sample", "12", "--seed", "7", "--json")
    assert again.code == 0
    assert sorted(event["intent"].partition(":")[2] for event in of_kind(here / "two", "landed")) == sorted(landed)
    assert call("resume", "one", "--limit", "5", "--json").data["ledger"]["landed"] == 17
    rest = call("resume", "one", "--json").data
    assert rest["ledger"]["pending"] == 0
    assert rest["stopped"] == "ended"
    assert call("verify", "one").code == 0


def test_a_dry_run_and_a_prompt_call_no_model_and_write_nothing(codebase: Path, here: Path) -> None:
    before = state_of(codebase)
    words = ("run", "document", "--repo", codebase)
    shown = call(*words, "--dry-run")
    assert "no model was called and nothing was written" in shown.out
    plan = call(*words, "--dry-run", "--json").data
    assert plan["calls"] == plan["endings"]["pending"] == sum(plan["lanes"].values())
    assert sum(plan["endings"].values()) == plan["intents"]
    assert sum(plan["reasons"].values()) == plan["endings"]["skipped"]
    assert plan["input_tokens"] > 1000
    prompt = call(*words, "--paths", "odd/", "--show-prompt", "odd/crlf.py").out
    assert "--- system" in prompt
    assert "def crlf():" in prompt
    assert call(*words, "--paths", "odd/", "--show-prompt", "odd/caf\udce9.py").code == 0
    missing = call(*words, "--paths", "odd/", "--show-prompt", "odd/crfl.py")
    assert missing.code == 2
    assert "Near to it: odd/crlf.py" in missing.err
    assert "already documented" in call(*words, "--paths", "odd/", "--show-prompt", "odd/said.py").err
    assert list(here.iterdir()) == []
    assert state_of(codebase) == before


def test_patterns_choose_files_as_gitignore_does(codebase: Path, here: Path) -> None:
    words = ["--paths", "odd/*.py", "--paths", "/web/", "--exclude", "odd/c*", "--exclude", "*.ts", "--index", ""]
    done = call("run", "document", "--repo", codebase, "-o", "one", "--json", *words)
    assert done.code == 0, done.err
    landed = {event["intent"].partition(":")[2] for event in of_kind(here / "one", "landed")}
    assert "web/shown.js" in landed
    assert "odd/with space.py" in landed
    assert not {path for path in landed if path.startswith("odd/c") or path.endswith(".ts") or "/" not in path}
    assert git(here / "one" / "repo.git", "ls-tree", "main", "docs") == ""


def test_a_job_file_does_what_the_flags_do_and_flags_count_more(codebase: Path, here: Path) -> None:
    (here / "job.toml").write_text(
        f'job = "document"\nrepo = "{codebase}"\nout = "one"\nworkers = 3\n'
        '[document]\npaths = ["odd/*.py"]\nindex = "INDEX.md"\n[lanes]\nodd = ["odd/"]\n'
    )
    done = call("run", "job.toml", "--workers", "4", "--json")
    assert done.code == 0, done.err
    assert done.data["workers"] == 4
    assert {event["lane"] for event in of_kind(here / "one", "landed")} == {"odd"}
    assert "odd/crlf.py" in git(here / "one" / "repo.git", "show", "main:INDEX.md")
    assert call("verify", "one").code == 0


def test_signed_commits_are_good_for_plain_git(small: Path, here: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("no ssh-keygen on this machine")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key", "-C", "ada"], check=True)
    shutil.copytree(small, "code")
    for name, value in {"gpg.format": "ssh", "user.signingKey": str(here / "key")}.items():
        git(here / "code", "config", name, value)
    author = "Ada <ada@example.org>"
    done = call("run", "document", "--repo", "code", "-o", "one", "--sign", "--author", author, "--json")
    assert done.code == 0, done.err
    (here / "allowed").write_text("ada@example.org " + (here / "key.pub").read_text())
    for commit in git(here / "one" / "repo.git", "rev-list", f"{done.data['base']}..main").split():
        git(here / "one" / "repo.git", "-c", f"gpg.ssh.allowedSignersFile={here / 'allowed'}", "verify-commit", commit)
    assert call("verify", "one").code == 0


def test_log_and_diff_tell_what_was_asked_and_what_it_cost(world: World) -> None:
    log = call("log", world.run, "odd/crlf.py").out
    assert "Document odd/crlf.py" in log
    records = call("log", world.run, "odd/crlf.py", "--json").out
    assert '"outline"' in records
    diff = call("diff", world.run, "odd/crlf.py").out
    assert "+++ b/odd/crlf.py" in diff
    assert "proof: one run of" in diff
    assert "[system]" in diff
