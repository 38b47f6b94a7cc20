"""The page of a report: one HTML file with everything in it, which opens offline and asks no network for anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from qodebase.errors import QodebaseError
from qodebase.runs import RunFolder
from results.plots.theme import theme
from results.report import libraries
from results.report.markup import Child, Markup, data_block, el, packed_block
from results.report.sections import SECTIONS, heading, lede, tiles
from results.report.side_by_side import side_by_side
from results.report.stories import PIECE, Stories, stories
from results.report.subject import Subject
from results.report.words import count, readable

LIMIT = 12_000_000
"""The most characters that all stories of a page may have; everything else takes one or two million."""

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"


_NAMED = 4


class NoRuns(QodebaseError):
    """A report on nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report.

    Attributes:
        html: the page.
        runs: the names of its runs.
        left_out: what is not on it, in sentences.
    """

    html: str
    runs: tuple[str, ...]
    left_out: tuple[str, ...]


def report(folders: Sequence[RunFolder], *, kept: Path | None = None, limit: int = LIMIT) -> Report:
    """Return the report on runs.

    Args:
        folders: the runs; the first one's settings are those that the others are compared with.
        kept: where the scripts of plots are kept for the next page.
        limit: the most characters that all stories may have.

    Raises:
        NoRuns: there is none.
        BadData: a run cannot be read.
    """
    if not folders:
        raise NoRuns("no run to report on", hint="Name at least one.")
    subjects = [
        Subject(folder=folder, key=f"r{number}", name=name)
        for number, (folder, name) in enumerate(zip(folders, _names(folders), strict=True))
    ]
    told = [stories(one.frames, one.started_at, limit=limit // len(subjects)) for one in subjects]
    left_out = tuple(_left_out(subjects, told))
    return Report(
        html=_html(subjects, told, left_out, libraries.vega(kept)),
        runs=tuple(subject.name for subject in subjects),
        left_out=left_out,
    )


def _names(folders: Sequence[RunFolder]) -> list[str]:
    """Return the folders' names, with as much of the way to them as tells them apart."""
    paths = [folder.root.resolve() for folder in folders]
    for parts in range(1, max(len(path.parts) for path in paths) + 1):
        names = [readable("/".join(path.parts[-parts:])) for path in paths]
        if len(set(names)) == len(set(paths)):
            break
    return [f"{name} ({names[:at].count(name) + 1})" if name in names[:at] else name for at, name in enumerate(names)]


def _left_out(subjects: Sequence[Subject], told: Sequence[Stories]) -> Iterator[str]:
    yield "Prompts and answers are not on this page: `qodebase log RUN INTENT` shows them where the run keeps them."
    for subject, found in zip(subjects, told, strict=True):
        if found.left_out:
            yield (
                f"{subject.name}: {count(found.left_out)} of {count(found.told + found.left_out)} intents are in the "
                "list without their story, to keep the page small; those that landed fastest and without a collision "
                "were left out first."
            )


def _html(subjects: Sequence[Subject], told: Sequence[Stories], left_out: Sequence[str], vega: str) -> str:
    own = libraries.own("page.js")
    scripts = [libraries.harmless(script) for script in (vega, own)]
    policy = (
        f"default-src 'none'; script-src {' '.join(map(libraries.allowed, scripts))}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    title = " and ".join(subject.name for subject in subjects[:3]) + (" and more" if len(subjects) > 3 else "")
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", f"{title}: qodebase report"),
        el("style", Markup(libraries.own("page.css"))),
    )
    body = el(
        "body",
        el("a", "To the content", href="#content", class_="skip"),
        _top(subjects, title),
        el("main", list(_main(subjects, told)), id="content"),
        _foot(left_out),
        data_block("themes", {mode: theme(mode, font=_FONT) for mode in ("light", "dark")}),
        [el("script", Markup(script)) for script in scripts],
    )
    return readable(f"<!doctype html>\n{el('html', head, body, lang='en')}\n")


def _top(subjects: Sequence[Subject], title: str) -> Markup:
    alone = len(subjects) == 1
    if alone:
        links = [(f"{subjects[0].key}-{id}", name) for id, name, _ in SECTIONS] + [("r0-stories", "Intents")]
        said: Child = heading(subjects[0])
    else:
        links = [("compared", "Side by side"), *((subject.key, subject.name) for subject in subjects)]
        shown = [el("li", el("b", one.name), f": {lede(one)}") for one in subjects[:_NAMED]]
        rest = [el("li", f"and {count(len(subjects) - _NAMED)} more runs")] if len(subjects) > _NAMED else []
        said = el("ul", shown, rest, class_="lede")
    nav = el("nav", el("ul", (el("li", el("a", name, href=f"#{id}")) for id, name in links)), aria_label="Sections")
    noscript = el("noscript", el("p", "Plots and the intents' stories need JavaScript; figures and tables do not."))
    return el("header", el("p", "qodebase report", class_="eyebrow"), el("h1", title), said, nav, noscript)


def _main(subjects: Sequence[Subject], told: Sequence[Stories]) -> Iterator[Child]:
    if len(subjects) > 1:
        yield _section("compared", "Side by side", list(side_by_side(subjects)))
    for subject, found in zip(subjects, told, strict=True):
        if len(subjects) == 1:
            yield el("article", tiles(subject), _sections(subject, found, "h2"), id=subject.key)
        else:
            summary = el("summary", "Everything about this run")
            more = el("details", summary, _sections(subject, found, "h3"), class_="run", open=len(subjects) < 3)
            yield el("article", el("h2", subject.name), heading(subject), tiles(subject), more, id=subject.key)


def _sections(subject: Subject, found: Stories, level: str) -> list[Markup]:
    parts = [_section(f"{subject.key}-{id}", title, list(make(subject)), level) for id, title, make in SECTIONS]
    return [*parts, _section(f"{subject.key}-stories", "Every intent", _list(subject, found), level)]


def _section(id: str, title: str, children: Child, level: str = "h2") -> Markup:
    return el("section", el(level, title), children, id=id, aria_label=title)


def _list(subject: Subject, found: Stories) -> Markup:
    key = subject.key
    search = el("input", type="search", id=f"{key}-search", autocomplete="off", spellcheck="false")
    endings = [el("option", "all", value="")] + [
        el("option", f"{ending} ({count(many)})", value=ending) for ending, many in subject.endings.items()
    ]
    bar = el(
        "div",
        el("label", "Search id, reason or lane ", search),
        el("label", "Ending ", el("select", endings, id=f"{key}-ending")),
        class_="bar",
    )
    return el(
        "div",
        bar,
        el("p", "The list needs JavaScript.", class_="quiet", role="status", aria_live="polite"),
        el("ol", class_="intents"),
        el("button", "Show more", type="button", hidden=True),
        packed_block(f"{key}-index", found.index),
        (packed_block(f"{key}-piece-{at}", piece) for at, piece in enumerate(found.pieces)),
        class_="stories",
        data_key=key,
        data_piece=str(PIECE),
        data_simulated="yes" if subject.simulated else None,
    )


def _foot(left_out: Sequence[str]) -> Markup:
    return el("footer", el("h2", "What is not on this page"), el("ul", (el("li", one) for one in left_out)))
