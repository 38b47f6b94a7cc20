"""Merge three versions of a file as trees of items, and ask policies only where both sides changed one place.

The merge is diff3 over items instead of lines: an item that both sides still have is an anchor; between two anchors
lies a region. A region that one side left alone is the other side's. Where both changed it, a policy must say, with its
own proof, what the region becomes; without one the merge is undecided. An anchor that both sides edited is merged as a
file would be, and where that conflicts, its tree is merged the same way, but only along one path: nothing outside the
container that a policy decides may differ on both sides. So what is put together is always whole items. In a block of
statements whose lines conflict, nothing but the decided places may differ on either side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from qodebase.collision import Collision, Declined, Resolved, Side
from qodebase.paths import RepoPath
from replay_rules.file_mode import merged_mode
from replay_rules.invariants import sound_merge
from replay_rules.layouts import lead, one_layout, shell
from replay_rules.parsing import NoGrammar, Parsed, parsed_once
from replay_rules.parts import Container, Item, by_text, cut, cut_once, grammar_of, join
from replay_rules.places import Place, Policy, Region, Undecided
from replay_rules.regions import beside, no_early_use, no_meeting, no_repeats, parts, texts, without

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 80
_LARGEST = 300_000
"""Bytes; three such versions are cut once for all rules, larger ones by each anew, which takes minutes."""
_NOWHERE = RepoPath(b"part")
_ORDERED = frozenset({"body", "chain", "cases"})
_BLOCKS = frozenset({"block", "statement_block"})
_FIELDS = frozenset(
    {"function_definition", "class_definition", "function_declaration", "class_declaration", "method_definition"}
)


def weave(collision: Collision, policies: Sequence[Policy], *, needed: bool = True) -> Resolved | Declined:
    """Merge a file's three versions with these policies; with ``needed`` decline where none of them had work.

    Line ends must be alike in all versions; versions that do not parse are declined.
    """
    mode = merged_mode(collision)
    contents = [side.content for side in (collision.base, collision.main, collision.change)]
    language = grammar_of(collision.path)
    if language is None:
        return Declined(why="no grammar for this file: model")
    if isinstance(mode, Declined):
        return mode
    known = [content for content in contents if content is not None]
    if len(known) < 3:
        return Declined(why="a version of the file is missing: author")
    if max(map(len, known)) > _LARGEST:
        return Declined(why="too large to be read statement by statement: model")
    ends = _line_end(known)
    if ends is None:
        return Declined(why="the versions' line ends differ: author")
    try:
        versions = [parsed_once(language, content.replace(ends, b"\n")) for content in known]
    except NoGrammar as missing:
        return Declined(why=str(missing))
    if any(version.has_error for version in versions):
        return Declined(why="a version does not parse: model")
    loom = _Loom(versions, policies, idempotent=collision.idempotent)
    try:
        woven = loom.whole()
    except Undecided as undecided:
        return Declined(why=str(undecided))
    if needed and not loom.decided:
        return Declined(why="nothing here is of this rule's kind: model")
    if parsed_once(language, woven).has_error:
        return Declined(why="the result does not parse: model")
    return Resolved(content=woven.replace(b"\n", ends), mode=mode)


class _Loom:
    def __init__(self, versions: Sequence[Parsed], policies: Sequence[Policy], *, idempotent: bool) -> None:
        self._versions = versions
        self._policies = policies
        self._idempotent = idempotent
        self.decided = 0

    def whole(self) -> bytes:
        """Merge the files; raises `Undecided`."""
        base, main, change = self._versions
        easy = self._easy(base.content, main.content, change.content, "both sides made the same change: model")
        if easy is not None:
            return easy
        first, second, third = (cut_once(version.language, version.content) for version in self._versions)
        if first is None or second is None or third is None:
            raise Undecided("a version is empty: model")
        return self._container(first, second, third, 0)

    def node(self, base: Node, main: Node, change: Node, depth: int) -> bytes:
        nodes = (base, main, change)
        texts = [version.text(node) for version, node in zip(self._versions, nodes, strict=True)]
        easy = self._easy(
            texts[0], texts[1], texts[2], "the same edit was made on both sides, and may be meant twice: model"
        )
        if easy is not None:
            return easy
        if depth > _DEEPEST:
            raise Undecided("nested too deeply: model")
        if base.type in _BLOCKS and base.type == main.type == change.type:
            clean = self._clean(texts[0], texts[1], texts[2])
            if clean is not None:
                return clean
        if len({node.type for node in nodes}) > 1:
            raise Undecided(f"both sides changed one {base.type.replace('_', ' ')}: model")
        cuts = [cut(version, node) for version, node in zip(self._versions, nodes, strict=True)]
        first, second, third = cuts
        if first is not None and second is not None and third is not None:
            try:
                return self._container(first, second, third, depth)
            except Undecided as undecided:
                if first.role != "chain":
                    raise
                return self._within(nodes, depth, undecided)
        return self._children(nodes, depth)

    def _easy(self, base: bytes, main: bytes, change: bytes, alike: str) -> bytes | None:
        if change == base:
            return main
        if main == base:
            return change
        if main == change:
            if self._idempotent:
                return main
            raise Undecided(alike)
        return None

    def _within(self, nodes: tuple[Node, Node, Node], depth: int, undecided: Undecided) -> bytes:
        """Merge a chain whose clauses are the same by what is within one of them."""
        try:
            return self._children(nodes, depth)
        except Undecided:
            raise undecided from None

    def _children(self, nodes: tuple[Node, Node, Node], depth: int) -> bytes:
        kind = nodes[0].type.replace("_", " ")
        rows = [node.children for node in nodes]
        types = [[child.type for child in row] for row in rows]
        if not types[0] or types[0] != types[1] or types[0] != types[2]:
            raise Undecided(f"both sides changed one {kind}: model")
        texts = [[version.text(child) for child in row] for version, row in zip(self._versions, rows, strict=True)]
        differing = [at for at, base in enumerate(texts[0]) if texts[1][at] != base or texts[2][at] != base]
        if len(differing) > 1 and nodes[0].type not in _FIELDS:
            raise Undecided(f"both sides changed one {kind}: model")
        out = []
        at = [node.start_byte for node in nodes]
        for number in range(len(rows[0])):
            children = [row[number] for row in rows]
            out.append(self._gap(at, [child.start_byte for child in children]))
            if number in differing:
                out.append(self.node(children[0], children[1], children[2], depth + 1))
            else:
                out.append(texts[0][number])
            at = [child.end_byte for child in children]
        out.append(self._gap(at, [node.end_byte for node in nodes]))
        return b"".join(out)

    def _gap(self, starts: Sequence[int], ends: Sequence[int]) -> bytes:
        gaps = [version.content[one:two] for version, one, two in zip(self._versions, starts, ends, strict=True)]
        if gaps[0] == gaps[1]:
            return gaps[2]
        if gaps[0] != gaps[2]:
            raise Undecided("both sides changed the layout of one place: model")
        return gaps[1]

    def _container(self, base: Container, main: Container, change: Container, depth: int) -> bytes:
        if not base.role == main.role == change.role:
            raise Undecided("a container became another: model")
        base, main, change = one_layout(base, main, change)
        place = Place(base=base, main=main, change=change, idempotent=self._idempotent)
        no_repeats(place)
        no_meeting(place)
        place = self._told_apart(place)
        own = place.change.items
        place, kept = self._twins(place)
        items: list[Item] = []
        strict = place.role in _ORDERED and main.node.parent is not None
        for part in parts(place):
            if strict and beside(part):
                raise Undecided("a side changed more of the same block: model")
            if isinstance(part, Region):
                items += self._region(place, part, depth)
            else:
                items.append(self._item(*part, depth))
        items = [kept.get(item.key, item)._replace(lead=item.lead) for item in items]
        no_early_use(kept, own, items)
        around = replace(main, suffix=shell(base.suffix, main.suffix, change.suffix))
        prefix = shell(base.prefix, main.prefix, change.prefix)
        comma = change.last_comma if main.last_comma == base.last_comma else main.last_comma
        whole = join(replace(around, prefix=prefix, last_comma=comma), tuple(items))
        if not whole.startswith(main.indent):
            raise Undecided("the indentation differs: model")
        return whole[len(main.indent) :]

    def _told_apart(self, place: Place) -> Place:
        """Know imports of one module by their text where their number differs; of other items none may repeat so."""
        sides = (place.base, place.main, place.change)
        counts = [Counter(item.key for item in side.items if item.name) for side in sides]
        repeated = {key for count in counts for key, number in count.items() if number > 1}
        uneven = {key for key in repeated if len({count[key] for count in counts}) > 1}
        for kind, name in sorted(uneven):
            if kind != "import":
                raise Undecided(f"{_show(name)} is there more than once: model")
        if not uneven:
            return place
        base, main, change = (
            replace(side, items=tuple(by_text(item) if item.key in uneven else item for item in side.items))
            for side in sides
        )
        return replace(place, base=base, main=main, change=change)

    def _twins(self, place: Place) -> tuple[Place, dict[tuple[str, bytes], Item]]:
        """Let policies join what both sides added under one name; the change's is taken out of its version."""
        ours = {item.key: item for item in place.new_in(place.main) if item.name}
        kept: dict[tuple[str, bytes], Item] = {}
        for item in place.new_in(place.change):
            if item.name and item.key in ours:
                kept[item.key] = self._twin(place, ours[item.key], item)
        if kept:
            place = replace(place, change=replace(place.change, items=without(place, kept)))
        return place, kept

    def _twin(self, place: Place, main: Item, change: Item) -> Item:
        why = f"both sides added {_show(main.name)}: model"
        for policy in self._policies:
            one = policy.twin(place, main, change) if policy.twin else None
            if isinstance(one, Item):
                self.decided += 1
                return one
            if one is not None:
                why = one.why
        if self._idempotent and main.text == change.text:
            return main
        raise Undecided(why)

    def _region(self, place: Place, region: Region, depth: int) -> Sequence[Item]:
        base, main, change = (texts(run) for run in (region.base, region.main, region.change))
        if change == base:
            return region.main
        if main == base:
            return region.change
        if main == change and place.idempotent:
            return region.main
        whys = []
        for policy in self._policies:
            if policy.region is None:
                continue
            found = policy.region(place, region)
            if not isinstance(found, Declined):
                self.decided += 1
                return found
            whys.append(found.why)
        if len(base) == len(main) == len(change) == 1 and main != change:
            return [self._item(region.base[0], region.main[0], region.change[0], depth)]
        why = max(whys, key=len, default="")
        raise Undecided(why or f"both sides changed one place of a {place.role}: model")

    def _item(self, base: Item, main: Item, change: Item, depth: int) -> Item:
        text = self._item_text(base, main, change, depth)
        note = self._easy(base.note, main.note, change.note, "both sides changed one comment: model")
        if note is None:
            raise Undecided("both sides changed one comment: model")
        return main._replace(text=text, note=note, lead=lead(base.lead, main.lead, change.lead))

    def _item_text(self, base: Item, main: Item, change: Item, depth: int) -> bytes:
        easy = self._easy(
            base.text, main.text, change.text, "the same edit was made on both sides, and may be meant twice: model"
        )
        if easy is not None:
            return easy
        clean = self._clean(base.text, main.text, change.text)
        if clean is not None:
            return clean
        if base.node is None or main.node is None or change.node is None:
            raise Undecided("both sides changed one statement: model")
        inner = self.node(base.node, main.node, change.node, depth + 1)
        items = (base, main, change)
        heads = [item.text[: item.at] for item in items]
        tails = [
            item.text[item.at + item.node.end_byte - item.node.start_byte :] for item in items if item.node is not None
        ]
        why = "both sides changed the comment of one item: model"
        head = self._easy(heads[0], heads[1], heads[2], why)
        tail = self._easy(tails[0], tails[1], tails[2], why)
        if head is None or tail is None:
            raise Undecided(why)
        return head + inner + tail

    def _clean(self, base: bytes, main: bytes, change: bytes) -> bytes | None:
        sides = [Side(content=text + b"\n") for text in (base, main, change)]
        outcome = sound_merge(
            Collision(path=_NOWHERE, base=sides[0], main=sides[1], change=sides[2], idempotent=self._idempotent)
        )
        return outcome.content[:-1] if isinstance(outcome, Resolved) else None


def _line_end(contents: Sequence[bytes]) -> bytes | None:
    """Return the line end that all versions use throughout, or None."""
    crlf = sum(content.count(b"\r\n") for content in contents)
    if not crlf:
        return b"\n" if not any(b"\r" in content for content in contents) else None
    return b"\r\n" if crlf == sum(content.count(b"\n") for content in contents) == _returns(contents) else None


def _returns(contents: Sequence[bytes]) -> int:
    return sum(content.count(b"\r") for content in contents)


def _show(name: bytes) -> str:
    return name.decode(errors="replace")
