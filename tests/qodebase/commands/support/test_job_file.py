from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from qodebase.codec import BadData
from qodebase.commands.support.job_file import read_job_file
from qodebase.commands.support.options import CommonOptions
from qodebase.rule_settings import RuleSettings


class Toy:
    name = "toy"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Settings:
        paths: tuple[str, ...] = ()
        depth: int = field(default=3, metadata={"min": 1, "max": 9})
        share: float | None = None
        table: dict[str, int] = field(default_factory=dict)


def written(folder: Path, text: str) -> Path:
    path = folder / "job.toml"
    path.write_text(text)
    return path


def test_a_job_file_gives_options_lanes_models_and_the_jobs_settings(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        job = "toy"
        repo = "../code"
        workers = 7
        cache = "readonly"
        sign = true
        [toy]
        paths = ["src/**"]
        share = 1
        table = {a = 1}
        [lanes]
        core = ["src/core/**", "!src/core/gen/**"]
        [models.cheap]
        adapter = "openai"
        model = "small"
        """,
    )
    file = read_job_file(path)
    assert file.job == "toy"
    assert file.common == {
        "repo": tmp_path / "../code",
        "workers": 7,
        "cache": "readonly",
        "sign": True,
        "lanes": {"core": ("src/core/**", "!src/core/gen/**")},
        "models": {"cheap": {"adapter": "openai", "model": "small"}},
    }
    assert file.settings_for(Toy) == {"paths": ["src/**"], "share": 1, "table": {"a": 1}}


def test_a_repository_with_an_absolute_path_stays_where_it_is(tmp_path: Path) -> None:
    assert read_job_file(written(tmp_path, 'repo = "/code"')).common["repo"] == Path("/code")


def test_a_jobs_python_file_is_found_beside_the_job_file(tmp_path: Path) -> None:
    assert read_job_file(written(tmp_path, 'job_file = "mine.py"')).job_file == str(tmp_path / "mine.py")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('workers = "x"', "`workers` must be a whole number, at least 1, not 'x'"),
        ("workers = 0", "`workers` must be a whole number, at least 1, not 0"),
        ("workers = true", "`workers` must be a whole number, at least 1, not True"),
        ('cache = "no"', "`cache` must be one of use, readonly, off, refresh, not 'no'"),
        ("repo = 3", "`repo` must be a text, not 3"),
        ("sign = 1", "`sign` must be true or false, not 1"),
        ('lanes = {a = "x"}', "`lanes` must be a table of arrays of texts, not {'a': 'x'}"),
        ("job = 3", "`job` must be a text, not 3"),
        ('job = "a"\njob_file = "b.py"', "`job` and `job_file` exclude each other"),
        ("workers = ", "is no TOML: Invalid value (at "),
        ("[models.a]\nadaptor = 'x'", "[models.a]: unknown key `adaptor`; did you mean `adapter`?"),
    ],
)
def test_a_wrong_option_is_refused_with_file_field_and_what_is_allowed(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(BadData) as caught:
        read_job_file(path)
    assert str(path) in caught.value.message
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("worker = 1", "unknown key `worker`; did you mean `workers`?", "Allowed: job, job_file, repo, branch"),
        ("json = true", "unknown key `json`", "Allowed: job, job_file"),
        ("[tooy]", "unknown key `tooy`; did you mean `toy`?", "models, toy."),
        ("toy = 1", "`toy` must be a table, [toy], not 1", ""),
        ("depth = 3", "`depth` is a setting of the job", "Put it into the table [toy]."),
        ("[toy]\ndeep = 1", "[toy]: unknown key `deep`; did you mean `depth`?", "Allowed: paths, depth, share, table."),
        ("[toy]\ndepth = 10", "[toy]: `depth` must be a whole number, at least 1, at most 9, not 10", ""),
        ("[toy]\npaths = 'x'", "[toy]: `paths` must be an array of texts, not 'x'", ""),
        ("[toy]\ntable = {a = 'x'}", "[toy]: `table`: Expected `int`, got `str`", ""),
    ],
)
def test_a_wrong_setting_of_the_job_is_refused_with_file_table_field_and_what_is_allowed(
    tmp_path: Path, text: str, message: str, hint: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(BadData) as caught:
        read_job_file(path).settings_for(Toy)
    assert caught.value.message.startswith(f"{path}: {message}")
    assert hint in caught.value.hint


def test_what_is_on_or_off_may_be_true_or_false(tmp_path: Path) -> None:
    common = read_job_file(written(tmp_path, "claims = true\nprefetch = false\ncontract = 'off'")).common
    assert (common["claims"], common["prefetch"], common["contract"]) == ("on", "off", "off")


def test_a_job_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="cannot be read: No such file"):
        read_job_file(tmp_path / "none.toml")


def test_a_job_file_leaves_rules_out_and_binds_them(tmp_path: Path) -> None:
    path = written(tmp_path, 'job = "toy"\n[rules]\noff = ["imports"]\n[rules.bind]\nsorted-index = ["/docs/*.md"]\n')
    rules = RuleSettings(off=("imports",), bind={"sorted-index": ("/docs/*.md",)})
    common = read_job_file(path).common
    assert common == {"rules": rules}
    both = CommonOptions(**common, rule_off=("imports", "version")).all_rules
    assert both == RuleSettings(off=("imports", "version"), bind=rules.bind)


@pytest.mark.parametrize("table", ["off = 1", "of = []", 'bind = {x = "y"}'])
def test_a_wrong_rules_table_is_named(tmp_path: Path, table: str) -> None:
    with pytest.raises(BadData, match=r"job\.toml: (`rules`|\[rules\])"):
        read_job_file(written(tmp_path, f'job = "toy"\n[rules]\n{table}\n'))
