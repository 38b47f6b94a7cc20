"""Reports: one page that is whole, escaped, and says what the frames say."""

from __future__ import annotations

import base64
import doctest
import gzip
import html
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from qodebase.runs import RunFolder
from results.frames import Frames
from results.metrics import values_of
from results.plots import bins
from results.report import libraries, markup, words
from results.report.page import NoRuns, report
from results.report.stories import packed, stories
from results.report.words import money

if TYPE_CHECKING:
    from tests.results.conftest import ToyRun

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&<!--"


class Page(HTMLParser):
    """The elements of a page, its data blocks, and the text that people see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: dict[str, str] = {}
        self.seen = ""
        self._in = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in = (dict(attrs).get("id") or tag) if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in:
            self.blocks[self._in] = self.blocks.get(self._in, "") + data
        else:
            self.seen += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def unpacked(self, id: str) -> Any:
        return json.loads(gzip.decompress(base64.b64decode(self.blocks[id])))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder in which the script of plots is a short one, for pages that no browser opens."""
    folder = tmp_path / "kept"
    folder.mkdir()
    libraries.vega_file(folder).write_text("window.vegaEmbed = undefined;", encoding="utf-8")
    return folder


def rows_of(page: Page, name: str) -> list[dict[str, Any]]:
    """Return the rows that a plot of the first run is drawn from."""
    spec = json.loads(page.blocks[f"r0-plot-{name}-spec"])
    data = spec["data"] if "data" in spec else spec["layer"][0]["data"]
    rows: list[dict[str, Any]] = data["values"] if "values" in data else spec["datasets"][data["name"]]
    return rows


def test_the_page_says_what_the_frames_say(honest: ToyRun, kept: Path) -> None:
    frames = Frames(honest.folder, kept=False)
    metrics = values_of(frames)
    page = Page(report([honest.folder], kept=kept).html)
    landed, intents = frames.landings.height, frames.intents.height
    assert f"{landed} of {intents} intents landed" in page.seen
    assert "Balanced: journal and repository agree." in page.seen
    assert sum(row["landed"] for row in rows_of(page, "throughput")) == landed
    assert sum(row["intents"] for row in rows_of(page, "ledger")) == intents
    assert sum(row["paths"] for row in rows_of(page, "collisions")) == sum(
        metrics[name] for name in ("redone_by_merge", "redone_by_rule", "redone_by_model", "not_redone")
    )
    for name in metrics:
        assert name in page.seen
    assert sorted(page.unpacked("r0-index")["intent"]) == sorted(frames.intents["intent"].to_list())


def test_a_cost_that_is_not_known_of_all_calls_is_told_as_the_least(honest: ToyRun, kept: Path) -> None:
    costs = Frames(honest.folder, kept=False).costs
    page = Page(report([honest.folder], kept=kept).html)
    assert f"≥ {money(costs['cost_usd'].sum())}" in page.seen
    assert f"not known of {costs['unknown_cost_calls'].sum()} calls" in page.seen


def test_a_story_tells_calls_collisions_and_commit(honest: ToyRun, kept: Path) -> None:
    frames = Frames(honest.folder, kept=False)
    page = Page(report([honest.folder], kept=kept).html)
    told = dict(zip(page.unpacked("r0-index")["intent"], page.unpacked("r0-piece-0"), strict=True))
    collided = frames.collisions["intent"][0]
    landed = dict(frames.landings.select("intent", "commit").iter_rows())
    story = told[collided]
    assert story["commit"] == landed[collided]
    assert story["moves"][0]["path"] == frames.collisions["path"][0]
    assert story["asked_of"][0]["model"] == "toy"
    assert [name for name, _ in story["times"]] == ["admitted", "answered", "queued", "ended"]


def test_a_ledger_that_does_not_balance_is_told_with_its_intents(toy: ToyRun, kept: Path) -> None:
    toy.edit_lines("journal.jsonl", lambda lines: [line for line in lines if line["kind"] != "landed"])
    page = Page(report([toy.folder], kept=kept).html)
    assert "Journal and repository do not agree." in page.seen
    assert "a commit of main lands it, but the journal does not say so: doc:" in page.seen


def test_what_models_and_jobs_wrote_stays_text(toy: ToyRun, kept: Path) -> None:
    def rename(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for line in lines:
            for name in ("asked", "reason", "why"):
                if line.get(name):
                    line[name] = HOSTILE
            if "lane" in line:
                line["lane"] = HOSTILE
        victim = json.dumps(next(iter(toy.others())))[1:-1]
        return [json.loads(json.dumps(line).replace(victim, json.dumps(HOSTILE)[1:-1])) for line in lines]

    toy.edit_lines("intents.jsonl", rename)
    toy.edit_lines("journal.jsonl", rename)
    made = report([toy.folder], kept=kept).html
    page = Page(made)
    assert page.of("img") == []
    assert "alert(1)" not in page.blocks["script"]
    assert HOSTILE in page.seen
    assert html.escape(HOSTILE) in made
    assert HOSTILE in page.unpacked("r0-index")["intent"]
    assert {row["lane"] for row in rows_of(page, "lanes")} == {HOSTILE}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)


def test_the_page_needs_nothing_from_elsewhere_and_runs_only_its_own_scripts(honest: ToyRun, kept: Path) -> None:
    page = Page(report([honest.folder], kept=kept).html)
    (policy,) = (one["content"] for one in page.of("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    scripts = [one for one in page.of("script") if "type" not in one]
    assert len(re.findall(r"'sha256-[^']+'", policy)) == len(scripts) == 2
    assert libraries.allowed(libraries.own("page.js")) in policy
    for name, attributes in page.tags:
        assert "src" not in attributes, name
        assert (attributes.get("href") or "#").startswith(("#", "data:text/csv")), name


def test_tables_have_captions_and_headers_and_their_box_can_be_reached_by_keyboard(honest: ToyRun, kept: Path) -> None:
    made = report([honest.folder], kept=kept).html
    page = Page(made)
    tables = len(page.of("table"))
    assert tables == len(page.of("caption")) == len(page.of("thead")) > 10
    assert all(one.get("scope") in ("col", "row") for one in page.of("th"))
    assert made.count('class="scroll" tabindex="0" role="region"') == tables
    ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert {one["href"] for one in page.of("a") if str(one.get("href")).startswith("#")} <= {f"#{id}" for id in ids}


def test_the_data_behind_a_plot_is_a_file_on_the_page(honest: ToyRun, kept: Path) -> None:
    page = Page(report([honest.folder], kept=kept).html)
    (link,) = (one for one in page.of("a") if one.get("download") == "ledger.csv")
    text = base64.b64decode(str(link["href"]).partition("base64,")[2]).decode()
    assert text.splitlines()[0] == "ending,intents"
    assert len(text.splitlines()) == 1 + len(rows_of(page, "ledger"))


def test_stories_over_the_limit_are_left_out_and_counted(honest: ToyRun, kept: Path) -> None:
    frames = Frames(honest.folder, kept=False)
    whole = stories(frames, 0.0, limit=1_000_000)
    assert (whole.told, whole.left_out) == (frames.intents.height, 0)
    none = stories(frames, 0.0, limit=10)
    assert (none.told, none.left_out, none.pieces) == (0, frames.intents.height, ())
    made = report([honest.folder], kept=kept, limit=10)
    assert f"{frames.intents.height} of {frames.intents.height} intents are in the list without their story" in (
        Page(made.html).seen
    )


def test_what_did_not_land_is_told_first(honest: ToyRun) -> None:
    found = stories(Frames(honest.folder, kept=False), 0.0, limit=1_000_000)
    endings = json.loads(gzip.decompress(base64.b64decode(found.index)))["ending"]
    firsts = [endings.index(name) for name in ("sent back", "landed", "skipped")]
    assert firsts == sorted(firsts)
    assert packed(endings) == packed(list(endings))


def test_a_run_in_which_nothing_happened_has_a_page(empty_run: RunFolder, kept: Path) -> None:
    page = Page(report([empty_run], kept=kept).html)
    assert "0 of 1 intents landed, 1 pending." in page.seen
    assert "Nothing has landed." in page.seen


def test_a_folder_whose_name_is_no_text_has_a_page(empty_run: RunFolder, honest: ToyRun, kept: Path) -> None:
    odd = RunFolder(empty_run.root.rename(Path(os.fsdecode(os.fsencode(empty_run.root.parent) + b"/odd-\xff"))))
    assert "odd-\\udcff" in Page(report([odd], kept=kept).html.encode().decode()).seen
    both = report([odd, honest.folder], kept=kept)
    assert both.runs[0].encode().endswith(b"odd-\\udcff")
    assert "Side by side" in Page(both.html).seen


def test_two_runs_stand_side_by_side_and_equal_settings_are_one_side(toy: ToyRun, honest: ToyRun, kept: Path) -> None:
    page = Page(report([toy.folder, honest.folder], kept=kept).html)
    assert "All runs have the same settings" in page.seen
    settings = toy.folder.root / "settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"workers": 3}))
    made = report([toy.folder, honest.folder], kept=kept)
    page = Page(made.html)
    assert "one run a setting" in page.seen
    assert "Settings that differ" in page.seen
    assert len(made.runs) == len(set(made.runs)) == 2


@pytest.mark.parametrize("module", [words, markup, bins])
def test_examples_of_figures_and_markup_hold(module: ModuleType) -> None:
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


def test_a_report_on_nothing_is_refused() -> None:
    with pytest.raises(NoRuns):
        report([])
