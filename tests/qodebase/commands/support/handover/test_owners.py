"""CODEOWNERS is read as GitHub reads it."""

from __future__ import annotations

import pytest

from qodebase.commands.support.handover.owners import owners_by
from qodebase.paths import RepoPath

EXAMPLE = r"""
# A comment
*       @global-one @global-two
*.js    @js-owner #an inline comment
*.go docs@example.com
/build/logs/ @doctocat
docs/*  docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/ @octocat
/apps/github
with\ space.txt @spaced
!never.py @nobody
[ab].py @nobody
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("a.py", ("@global-one", "@global-two")),
        ("deep/down/x.js", ("@js-owner",)),
        ("x.go", ("docs@example.com",)),
        ("build/logs/today/x", ("@octocat",)),
        ("other/build/logs/x.js", ("@octocat",)),
        ("docs/getting-started.md", ("@doctocat",)),
        ("sub/docs/a.md", ("@global-one", "@global-two")),
        ("deep/apps/x", ("@octocat",)),
        ("apps/github/x", ()),
        ("apps/github", ()),
        ("apps/githubber", ("@octocat",)),
        ("scripts/run.sh", ("@doctocat", "@octocat")),
        ("with space.txt", ("@spaced",)),
        ("never.py", ("@global-one", "@global-two")),
        ("a.PY", ("@global-one", "@global-two")),
        ("x.JS", ("@global-one", "@global-two")),
    ],
)
def test_the_last_pattern_that_matches_counts(path: str, owners: tuple[str, ...]) -> None:
    assert owners_by(EXAMPLE)(RepoPath(path.encode())) == owners


def test_a_folder_with_a_star_takes_the_files_of_the_folder_alone() -> None:
    owner = owners_by("docs/* @writers\n")
    assert owner(RepoPath(b"docs/a.md")) == ("@writers",)
    assert owner(RepoPath(b"docs/api/a.md")) == ()
    assert owner(RepoPath(b"x/docs/a.md")) == ()


def test_two_stars_take_folders_between() -> None:
    owner = owners_by("/a/**/z.py @deep\nb/** @all\n")
    assert owner(RepoPath(b"a/z.py")) == owner(RepoPath(b"a/b/c/z.py")) == ("@deep",)
    assert owner(RepoPath(b"b/c/d")) == ("@all",)
    assert owner(RepoPath(b"a/y.py")) == ()


def test_a_path_that_is_no_text_has_its_owner() -> None:
    assert owners_by("odd/ @odd\n")(RepoPath(b"odd/caf\xe9\n.py")) == ("@odd",)
