"""The edit job: from rows to prompts, from answers to changes within their scope."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from fleet.jobs.edit.answers import BadAnswer, forbidden
from fleet.jobs.edit.audit import EditAudit, fault_of_edits
from fleet.jobs.edit.blanks import LostTabs, put_back
from fleet.jobs.edit.formats import asking, parse, says_no_change
from fleet.jobs.edit.rows import Row, read_rows
from fleet.jobs.edit.settings import Settings as EditSettings
from fleet.jobs.edit.template import BadTemplate, Template, read_prompt
from fleet.jobs.edit.texts import NEW, Form, NoText, fault_of_entry, read
from fleet.jobs.edit.wholeness import is_a_part
from fleet.jobs.registry import digest_of_file
from qodebase.change import Change, Write
from qodebase.check import Check, Limits
from qodebase.codec import BadData
from qodebase.edits import materialise
from qodebase.intent import Ending, Intent
from qodebase.paths import RepoPath
from qodebase.ports import Accepted, JobAudit, Message, Prompt, ReplayRequest, SharedPath, Tree, Unusable

_OUTPUT_TOKENS = 4000
_BYTES_A_TOKEN = 2
_ASKED = 100
_SPARE_LINES = 20


class EditFiles:
    """Edit files as a prompt asks, one intent a file or a row; see `qodebase.ports.Job`."""

    name = "edit"
    Settings = EditSettings
    MODEL = ""
    shared: tuple[SharedPath, ...] = ()

    def __init__(self, settings: EditSettings) -> None:
        self._settings = settings
        self._base: Tree | None = None

    @property
    def digest(self) -> str:
        """Return a digest of code, prompt and rows."""
        parts = [digest_of_file(Path(__file__).with_name("__init__.py")).encode(), self._template.text.encode()]
        if self._settings.intents:
            parts.append(Path(self._settings.intents).read_bytes())
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    def open(self, base: Tree) -> None:
        """Take the base."""
        self._base = base

    def ready(self) -> None:
        """Need nothing."""

    def close(self) -> None:
        """Hold nothing."""

    def lanes(self) -> Mapping[str, Sequence[str]]:
        """Leave the lanes to the tree."""
        return {}

    def intents(self) -> Iterator[Intent]:
        """Yield an intent a row; what no model can edit ends as skipped.

        Raises:
            BadData, BadTemplate: a fault of the settings, of a row or of a template; the message says where.
        """
        _ = self.checks(), self.verifying()
        for row in self._rows.values():
            values = self._values(row, row.paths, "")
            self._template_for(row).messages(values, "")
            yield Intent(
                id=row.id,
                asked=row.asked or self._asked(row, values),
                scope=(*row.paths, *row.beside),
                checks=tuple(_check_names(row)),
                after=row.after,
                retires=row.retires,
                priority=row.priority,
                ending=Ending.SKIPPED if row.skipped else Ending.PENDING,
                reason=row.skipped,
            )

    def checks(self) -> Mapping[str, Check]:
        """Declare the commands of the rows, which the gate runs.

        Raises:
            BadData: checks of two rows would be called the same.
        """
        found: dict[str, Check] = {}
        for row in self._rows.values():
            for name, text in zip(_check_names(row), row.checks, strict=True):
                if name in found:
                    raise BadData(
                        f"{row.source}: its check {name!r} is called like one of another row",
                        hint=f"Give the row another `id` than {row.id!r}.",
                    )
                found[name] = self._check(Template(text, f"{row.source}: `checks`"), row)
        return found

    def verifying(self) -> Mapping[str, Check]:
        """Declare what each agent runs on its own fork with its change."""
        if not self._settings.verify:
            return {}
        template = Template(self._settings.verify, "`verify`")
        return {row.id: self._check(template, row) for row in self._rows.values() if not row.skipped}

    def prompt(self, intent: Intent, fork: Tree, replay: ReplayRequest | None = None) -> Prompt:
        """Fill in the prompt with the newest text of the row's files."""
        row = self._rows[intent.id]
        paths = intent.scope[: len(row.paths)]
        texts = {path: _shown(fork, path) for path in paths}
        shown = next(iter(texts.values())) if len(texts) == 1 else "\n".join(_part(*one) for one in texts.items())
        form = asking(self._settings.format, len(intent.scope))
        messages: tuple[Message, ...] = self._template.messages(self._values(row, paths, shown), form)
        size = sum(len(text.encode()) for text in texts.values())
        usual = size // _BYTES_A_TOKEN + _OUTPUT_TOKENS if self._settings.format == "whole" else _OUTPUT_TOKENS
        facts: dict[str, Any] = {"path": paths[0].text, "text": shown, "row": dict(row.fields)}
        if "scripted" in row.fields:
            facts["scripted"] = row.fields["scripted"]
        return Prompt(
            messages=messages, max_output_tokens=self._settings.max_output_tokens or usual, facts=facts, shows=paths
        )

    def accept(self, intent: Intent, answer: str, fork: Tree) -> Accepted | Unusable:
        """Read the edits of an answer; what they want beyond the scope, or is no text, is refused."""
        if says_no_change(answer):
            return Unusable(ending=Ending.SKIPPED, why="the model says that nothing is to be changed")
        try:
            operations = list(self._operations(intent, answer, fork))
        except BadAnswer as bad:
            kind = f"no {self._settings.format} edit: " if bad.ending is Ending.NO_ANSWER else ""
            return Unusable(ending=bad.ending, why=f"{kind}{bad.why}")
        if not operations:
            return Unusable(ending=Ending.SKIPPED, why="the answer leaves everything as it is")
        return Accepted(change=Change(base=fork.commit, operations=tuple(operations)))

    def proof(self, intent: Intent, change: Change, fork: Tree) -> str | Unusable:
        """Prove that each edited file is still the text that it was: line ends, beginning, mode."""
        edits = materialise(change, fork)
        fault = fault_of_edits(edits, fork)
        return Unusable(ending=Ending.REFUSED, why=fault) if fault else f"text of {len(edits)} files, form kept"

    def idempotent(self, path: RepoPath) -> bool:
        """Say that equal lines of two intents may be meant twice."""
        return False

    def audit(self) -> JobAudit:
        """Return the audit of scope and form."""
        return EditAudit()

    def _operations(self, intent: Intent, answer: str, fork: Tree) -> Iterator[Write]:
        forms = self._forms(intent, fork)
        edited = parse(self._settings.format, answer, {path: text for path, (_, text) in forms.items()})
        touched = False
        for path, text in edited.items():
            form, before = forms[path]
            whole = self._whole(path, before, text) if self._settings.format == "whole" else text
            try:
                content = form.stored(whole)
            except NoText as error:
                raise forbidden(f"{path.text}: {error}") from None
            if len(content) > self._settings.max_bytes:
                raise forbidden(f"{path.text}: oversized, {len(content)} bytes")
            if content != form.stored(before) or fork.entry(path) is None:
                touched = True
                yield Write(path=path, content=content)
        if not touched and any(forms[path][1].rstrip("\n") != text.rstrip("\n") for path, text in edited.items()):
            raise BadAnswer("the answer changes nothing but tabs or blanks, which are kept (`blanks`)", Ending.SKIPPED)

    def _whole(self, path: RepoPath, before: str, text: str) -> str:
        """Return a whole new text as it is meant."""
        if part := is_a_part(before, text, least=self._settings.least_left, spare=_SPARE_LINES):
            raise BadAnswer(f"{path.text} has only {part} (`least_left` allows less)")
        try:
            return put_back(before, text) if self._settings.blanks == "keep" else text
        except LostTabs as lost:
            raise BadAnswer(f'{path.text}: {lost} (`blanks = "free"` allows it)') from None

    def _forms(self, intent: Intent, fork: Tree) -> dict[RepoPath, tuple[Form, str]]:
        """Return what an answer may edit; of the files beside the row's own, what is no text is left out."""
        own = len(self._rows[intent.id].paths)
        forms = {}
        for number, path in enumerate(intent.scope):
            try:
                forms[path] = _read(fork, path)
            except NoText as error:
                if number < own:
                    raise forbidden(f"{path.text} is {error} now") from None
        return forms

    def _check(self, template: Template, row: Row) -> Check:
        words = template.words(self._values(row, row.paths))
        if any("\0" in word for word in words):
            raise BadTemplate(
                f"{template.source} would hold a NUL ({row.source})", hint="Take it out of the field that holds it."
            )
        self._there(words[0], template.source)
        seconds = self._settings.verify_s
        return Check(command=words, limits=Limits(wall_s=seconds, cpu_s=max(1, int(seconds))))

    def _there(self, program: str, source: str) -> None:
        """Make sure that a command's program can be found.

        Raises:
            BadTemplate: it cannot.
        """
        own = "/" in program and not program.startswith("/")
        if own:
            found = self._tree.entry(RepoPath(program.removeprefix("./").encode())) is not None
        else:
            found = shutil.which(program) is not None
        if not found:
            where = "the repository has no such file" if own else "no such command here"
            raise BadTemplate(
                f"{source} runs {program}: {where}",
                hint="No shell is started: write `sh -c '...'` for shell syntax, {python} for this Python, and the "
                "whole path of a program beside the repository.",
            )

    def _values(self, row: Row, paths: Sequence[RepoPath], text: str | None = None) -> dict[str, Any]:
        """Return what templates may name; only prompts show text."""
        named = {"path": paths[0].text, "paths": tuple(path.text for path in paths), "python": sys.executable}
        return {**row.fields, "id": row.id, **named, **({} if text is None else {"text": text})}

    def _template_for(self, row: Row) -> Template:
        """Return the prompt, its errors naming the row where rows differ."""
        there = f" ({row.source})" if self._settings.intents else ""
        return Template(self._template.text, f"{self._template.source}{there}")

    def _asked(self, row: Row, values: Mapping[str, Any]) -> str:
        return f"Edit {row.paths[0].text}: {self._template.first_line(values)}"[:_ASKED]

    @cached_property
    def _template(self) -> Template:
        return read_prompt(self._settings.prompt, self._settings.prompt_file)

    @cached_property
    def _rows(self) -> dict[str, Row]:
        return {row.id: row for row in read_rows(self._settings, self._tree)}

    @property
    def _tree(self) -> Tree:
        if self._base is None:
            raise RuntimeError("the job was not opened on a tree")
        return self._base


def _read(tree: Tree, path: RepoPath) -> tuple[Form, str]:
    """Return a file's form and text; a path without a file is an empty new one.

    Raises:
        NoText: it cannot be edited as a text.
    """
    entry = tree.entry(path)
    if entry is None:
        return NEW, ""
    fault = fault_of_entry(entry)
    if fault:
        raise NoText(fault)
    return read(tree.read(path))


def _shown(tree: Tree, path: RepoPath) -> str:
    """Return what a prompt shows of a file, whatever main has made of it."""
    try:
        return _read(tree, path)[1]
    except NoText as error:
        return f"[{error}]"


def _part(path: RepoPath, text: str) -> str:
    return f"=== {path.text}\n{text}"


def _check_names(row: Row) -> list[str]:
    if len(row.checks) == 1:
        return [row.id]
    return [f"{row.id} {number}" for number in range(1, len(row.checks) + 1)]
