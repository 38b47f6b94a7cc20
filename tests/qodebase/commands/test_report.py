"""`qodebase report`: the page is written, and a real browser shows it without a complaint."""

from __future__ import annotations

import asyncio
import json
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import qodebase as qb
from qodebase.runs import RunFolder
from results.frames import Frames
from results.metrics import values_of
from tests.support.browser import CHROMIUM, Browser, browser

if TYPE_CHECKING:
    from tests.qodebase.commands.conftest import Call

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium")

SIZES = ((1280, 800, False), (390, 844, True))
_DRAWN = """[...document.querySelectorAll('figure.plot')].every(figure =>
    figure.querySelector('svg.marks') || !figure.querySelector('.canvas').checkVisibility())"""
_LISTED = "document.querySelectorAll('.intents > li').length > 0"


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder of the tests' own, in which the script of plots is made once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QODEBASE_CACHE", str(cache))


async def look(page: Browser) -> dict[str, Any]:
    """Bring everything into view, and return what a reader sees."""
    await page.evaluate("dispatchEvent(new Event('beforeprint'))")
    await page.until(_DRAWN)
    await page.evaluate("document.querySelector('.stories').scrollIntoView()")
    await page.until(_LISTED)
    await page.evaluate("document.querySelector('.intents details').open = true")
    await page.until("document.querySelector('.intents .story ol')")
    found = await page.evaluate(
        """JSON.stringify({
            tiles: Object.fromEntries([...document.querySelectorAll('.tiles li')].map(tile =>
                [tile.querySelector('.label').textContent, tile.querySelector('strong').textContent])),
            bars: Object.fromEntries([...document.querySelectorAll('#r0-plot-ledger tbody tr')].map(row =>
                [row.cells[0].textContent, row.cells[1].textContent])),
            drawn: document.querySelectorAll('#r0-plot-ledger svg .mark-rect path').length,
            listed: document.querySelector('.stories [role=status]').textContent,
            badges: document.querySelectorAll('figure.plot .badge').length,
            figures: document.querySelectorAll('figure.plot').length,
            back: getComputedStyle(document.body).backgroundColor,
            overflow: document.documentElement.scrollWidth - innerWidth,
        })"""
    )
    told: dict[str, Any] = json.loads(found)
    return told


async def look_at(url: str, folder: Path) -> list[dict[str, Any]]:
    """Look at a page on a desktop in the light and on a phone in the dark."""
    seen = []
    async with browser(folder) as shown:
        for width, height, dark in SIZES:
            await shown.open(url, width=width, height=height, dark=dark)
            seen.append(await look(shown))
            assert shown.complaints == []
            assert [asked for asked in shown.asked if not asked.startswith(("data:", url))] == []
    return seen


def check(seen: list[dict[str, Any]], frames: Frames) -> None:
    """Hold what the browser showed against the frames."""
    metrics = values_of(frames)
    endings = dict(frames.intents["ending"].value_counts().iter_rows())
    for one in seen:
        assert one["overflow"] == 0
        assert one["tiles"]["Landed"] == f"{frames.landings.height:,}"
        assert one["tiles"]["Collided"] == f"{100 * metrics['collision_rate']:.1f}%"
        assert one["bars"] == {ending: f"{many:,}" for ending, many in endings.items()}
        assert one["drawn"] == len(endings)
        assert one["listed"].startswith(f"{frames.intents.height:,} intents, ")
    assert seen[0]["back"] != seen[1]["back"]


def test_the_page_goes_into_the_run_folder_and_json_says_where(copy: RunFolder, call: Call) -> None:
    told = json.loads(call("report", "one", "--json").stdout)
    page = copy.root / "report.html"
    assert Path(told["report"]) == page.resolve()
    assert told["bytes"] == page.stat().st_size < 3_000_000
    assert told["runs"] == ["one"]
    assert "Prompts and answers are not on this page" in told["left_out"][0]
    assert call("report", "one", "--out", "other.html").stdout.strip() == str(Path("other.html").resolve())


def test_several_runs_make_one_page_here(copy: RunFolder, call: Call) -> None:
    settings = copy.root / "settings.json"
    other = copy.root.with_name("two")
    subprocess.run(["cp", "-r", copy.root, other], check=True)
    (other / "settings.json").write_text(json.dumps(json.loads(settings.read_text()) | {"workers": 4}))
    told = json.loads(call("report", "runs", "--json").stdout)
    assert sorted(told["runs"]) == ["one", "two"]
    assert Path(told["report"]) == Path("report.html").resolve()


def test_a_file_that_cannot_be_written_is_named(copy: RunFolder, call: Call) -> None:
    result = call("report", "one", "--out", "nowhere/report.html")
    assert result.exit_code == 2
    assert "nowhere/report.html cannot be written" in result.stderr


def test_a_run_in_a_notebook_has_the_same_plots(copy: RunFolder) -> None:
    plot = qb.open_run("one").plot.throughput()
    assert plot.data["landed"].sum() == Frames(copy, kept=False).landings.height > 0
    assert plot.simulated


@needs_browser
def test_a_browser_shows_the_numbers_of_the_frames_and_marks_what_is_simulated(
    copy: RunFolder, call: Call, tmp_path: Path
) -> None:
    page = Path(json.loads(call("report", "one", "--json").stdout)["report"])
    seen = asyncio.run(look_at(page.as_uri(), tmp_path))
    check(seen, Frames(copy, kept=False))
    assert all(one["badges"] == one["figures"] > 5 for one in seen)


@needs_browser
def test_hostile_text_runs_nothing_and_is_read_as_it_stands(copy: RunFolder, call: Call, tmp_path: Path) -> None:
    hostile = "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
    for name in ("journal.jsonl", "intents.jsonl"):
        file = copy.root / name
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            line.update({key: hostile for key in ("asked", "reason", "why", "lane") if line.get(key)})
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = Path(json.loads(call("report", "one", "--json").stdout)["report"])

    async def shown() -> tuple[str, int, str]:
        async with browser(tmp_path) as open_page:
            await open_page.open(page.as_uri(), width=1280, height=800)
            await look(open_page)
            assert open_page.complaints == []
            images = await open_page.evaluate("document.images.length")
            return (
                await open_page.evaluate("document.title"),
                images,
                await open_page.evaluate("document.querySelector('.intents .story').textContent"),
            )

    title, images, story = asyncio.run(shown())
    assert title == "one: qodebase report"
    assert images == 0
    assert hostile in story


@pytest.mark.full
@needs_browser
def test_without_javascript_figures_and_tables_are_there(copy: RunFolder, call: Call, tmp_path: Path) -> None:
    page = Path(json.loads(call("report", "one", "--json").stdout)["report"])

    async def shown() -> list[Any]:
        async with browser(tmp_path) as open_page:
            await open_page.open(page.as_uri(), width=390, height=844, script=False)
            words = "[document.querySelectorAll('table').length, document.body.innerText]"
            found: list[Any] = await open_page.evaluate(words)
            return found

    tables, text = asyncio.run(shown())
    assert tables > 8
    assert "need JavaScript; figures and tables do not" in text
    assert "How the intents ended" in text


@pytest.mark.full
@needs_browser
def test_the_report_of_a_thousand_landings_of_real_code_is_shown(tmp_path: Path, call: Call) -> None:
    code, run = tmp_path / "code", tmp_path / "run"
    code.mkdir()
    for package in ("litellm", "polars"):
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        subprocess.run(["cp", "-rL", Path(spec.origin).parent, code], check=True)
    for words in (["init", "-q", "-b", "main"], ["add", "--force", "*.py"], ["commit", "-q", "-m", "code"]):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@t", *words], cwd=code, check=True)
    assert call("run", "document", "--repo", str(code), "--out", str(run), "--model", "outline").exit_code == 0
    frames = Frames(RunFolder(run), kept=False)
    assert frames.landings.height >= 1000
    page = Path(json.loads(call("report", str(run), "--json").stdout)["report"])
    check(asyncio.run(look_at(page.as_uri(), tmp_path)), frames)
