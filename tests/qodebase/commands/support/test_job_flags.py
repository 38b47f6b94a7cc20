from __future__ import annotations

import subprocess
import sys
import textwrap
import typing
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from fleet.models.cached import CacheMode
from qodebase.commands.support.job_flags import Named, NoJob, find_job, register_run
from qodebase.commands.support.options import CacheUse, CommonOptions

MINE = textwrap.dedent(
    '''
    from dataclasses import dataclass, field
    from enum import StrEnum


    class Tone(StrEnum):
        DRY = "dry"
        WARM = "warm"


    @dataclass(frozen=True, slots=True, kw_only=True)
    class Settings:
        must: str = field(metadata={"help": "It is needed."})
        paths: tuple[str, ...] = field(default=(), metadata={"help": "Only these."})
        deep: bool = True
        most: int | None = field(default=None, metadata={"min": 2})
        share: float = 0.5
        tone: Tone = Tone.DRY
        table: dict[str, int] = field(default_factory=dict)


    class JOB:
        """Do something small; see `nothing`."""

        name = "mine"
        Settings = Settings
    '''
)


class Ran:
    """What the command line asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[CommonOptions, str, str, dict[str, Any]]] = []

    def __call__(self, common: CommonOptions, job: str, job_file: str, settings: dict[str, Any]) -> int:
        self.asked.append((common, job, job_file, settings))
        return 3


@pytest.fixture
def ran() -> Ran:
    return Ran()


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A job's file in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    return "mine.py"


def run(ran: Ran, *arguments: str) -> Result:
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback()(lambda: None)
    register_run(app, ran)
    result = CliRunner().invoke(app, ["run", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_flags_of_a_job_are_the_fields_of_its_settings(ran: Ran, mine: str) -> None:
    text = run(ran, "--job", mine, "--help").stdout
    assert "Do something small." in text
    for flag in ("--must TEXT", "--paths TEXT", "--deep / --no-deep", "--most N", "--share X", "--tone <dry|warm>"):
        assert flag in text
    assert "It is needed. [required]" in text
    assert "[default: 0.5]" in text
    assert "[x>=2]" in text
    assert "--table" not in text
    assert "--workers N" in text
    assert ran.asked == []


def test_only_what_is_given_comes_back_and_as_the_types_of_the_fields(ran: Ran, mine: str) -> None:
    result = run(
        ran, "--paths", "a/**", "--job", mine, "--paths", "b/**", "--no-deep", "--tone", "warm", "--share", "1"
    )
    assert result.exit_code == 3
    ((common, job, job_file, settings),) = ran.asked
    assert (job, job_file) == ("", mine)
    assert settings == {"paths": ("a/**", "b/**"), "deep": False, "tone": "warm", "share": 1.0}
    assert common == CommonOptions()


def test_the_common_options_have_their_documented_defaults(ran: Ran, mine: str) -> None:
    run(ran, "--job", mine)
    common = ran.asked[0][0]
    assert (common.model, common.workers, common.repo, common.sample, common.cache) == (
        "",
        1000,
        None,
        None,
        "use",
    )


def test_the_common_options_are_read_wherever_they_stand(ran: Ran, mine: str) -> None:
    run(ran, "-w5", "--repo", "code", f"--job={mine}", "--lane", "a=x/**", "--lane", "a=y/**", "--sign", "-o", "runs/x")
    assert ran.asked[0][0] == CommonOptions(
        repo=Path("code"), workers=5, lanes={"a": ("x/**", "y/**")}, sign=True, out=Path("runs/x")
    )


def test_a_flag_counts_more_than_the_job_file(ran: Ran, mine: str) -> None:
    Path("job.toml").write_text(
        f'job_file = "{mine}"\nworkers = 7\nsign = true\nseed = 4\n[mine]\nmust = "file"\nshare = 0.25\n'
    )
    assert run(ran, "job.toml", "-w", "9", "--no-sign", "--must", "flag").exit_code == 3
    ((common, job, job_file, settings),) = ran.asked
    assert (job, job_file) == ("", mine)
    assert common == CommonOptions(workers=9, sign=False, seed=4, source="job.toml")
    assert settings == {"must": "flag", "share": 0.25}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workers", "0"], "'--workers' / '-w'"),
        (["--workers", "many"], "'--workers' / '-w'"),
        (["--cache", "no"], "'use', 'readonly', 'off', 'refresh'"),
        (["--lane", "core"], "'core' is not NAME=PATTERN"),
        (["--most", "1"], "'--most'"),
        (["--shore", "1"], "No such option: --shore"),
        (["--table", "a"], "No such option: --table"),
        (["one", "two"], "unexpected extra argument(s) (one two)"),
    ],
)
def test_a_wrong_flag_or_value_ends_with_2_and_is_named(
    ran: Ran, mine: str, arguments: list[str], message: str
) -> None:
    result = run(ran, "--job", mine, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert ran.asked == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["document", "--repo", "x"], Named(job="document", rest=("--repo", "x"))),
        (["--repo", "document", "-w", "5", "document"], Named(job="document", rest=("--repo", "document", "-w", "5"))),
        (["-w5", "--json", "document"], Named(job="document", rest=("-w5", "--json"))),
        (["-w5", "documents"], Named(job="documents", rest=("-w5",))),
        (["--no-sign", "documents"], Named(job="documents", rest=("--no-sign",))),
        (["--paths", "src/**", "document"], Named(job="document", rest=("--paths", "src/**"))),
        (["--paths", "src/**", "documents"], Named(job="documents", rest=("--paths", "src/**"))),
        (["--model=x", "j.toml", "--sign"], Named(toml="j.toml", rest=("--model=x", "--sign"))),
        (["j.toml", "--job", "a.py"], Named(toml="j.toml", job_file="a.py", rest=("--job", "a.py"))),
        (["--job=a.py", "--paths", "b"], Named(job_file="a.py", rest=("--job=a.py", "--paths", "b"))),
        (["--help"], Named(rest=("--help",))),
    ],
)
def test_the_job_is_found_whatever_options_stand_before_it(arguments: list[str], named: Named) -> None:
    assert find_job(arguments, ["document", "mine"]) == named


def test_a_job_and_a_jobs_file_exclude_each_other() -> None:
    with pytest.raises(NoJob, match="exclude each other"):
        find_job(["document", "--job", "a.py"], ["document"])


def test_no_job_at_all_ends_with_2_and_lists_the_jobs(ran: Ran) -> None:
    result = run(ran)
    assert result.exit_code == 2
    assert "There are: " in result.stderr
    assert " document, edit," in result.stderr


def test_a_job_that_is_not_there_ends_with_2_and_lists_the_jobs(ran: Ran) -> None:
    result = run(ran, "documnt", "--paths", "x")
    assert result.exit_code == 2
    assert "no job 'documnt'" in result.stderr


def test_a_job_whose_settings_would_hide_a_common_option_is_refused(ran: Ran, mine: str) -> None:
    Path(mine).write_text(MINE.replace("share: float = 0.5", "seed: int = 1"))
    result = run(ran, "--job", mine)
    assert result.exit_code == 2
    assert "settings seed are options of `qodebase run` already" in result.stderr


def test_the_help_of_run_lists_the_jobs_and_imports_none() -> None:
    code = (
        "import sys, typer\n"
        "from qodebase.commands.support.job_flags import run_arguments\n"
        "try:\n    run_arguments(['--help'], None)\n"
        "except typer.Exit as end:\n    assert not end.exit_code\n"
        "print([name for name in sys.modules if name.startswith('fleet.jobs.document')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert " document, edit," in " ".join(done.stdout.split())
    assert done.stdout.endswith("[]\n")


def test_the_help_of_a_job_imports_no_other_job(mine: str) -> None:
    code = (
        "import sys, typer\n"
        "from qodebase.commands.support.job_flags import run_arguments\n"
        "try:\n    run_arguments(sys.argv[1:], None)\n"
        "except typer.Exit as end:\n    assert not end.exit_code\n"
        "print([name for name in sys.modules if name.startswith('fleet.jobs.document') or name == 'tree_sitter'])"
    )
    words = [sys.executable, "-c", code, "--job", mine, "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "--must TEXT" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_the_cache_flag_takes_what_the_cache_knows() -> None:
    assert set(typing.get_args(CacheUse)) == {str(mode) for mode in CacheMode}
