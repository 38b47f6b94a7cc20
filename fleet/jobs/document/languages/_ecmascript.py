"""What JavaScript and TypeScript share: a block comment behind licences and file-wide directives, before all code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fleet.jobs.document.languages._commented import BLOCK_RULES, Commented, Marks
from fleet.jobs.document.languages._ecmascript_directives import DIRECTIVE, NEXT
from fleet.jobs.document.languages._leading_comments import SHEBANG, Lexis
from fleet.jobs.document.leading import BLOCK_WORDS, LINE_WORDS
from fleet.jobs.document.text_rules import rule

if TYPE_CHECKING:
    from fleet.jobs.document.languages.outline import Outline

_PINNED = re.compile(rb"/\*!|@licen[cs]e\b|@preserve\b")
_HEADER = re.compile(rb"@(?:file|fileoverview|overview|packageDocumentation|module)\b")
_SYMBOL = re.compile(
    rb"@(?:param|returns?|type|typedef|template|callback|enum|class|constructor|extends|implements|private|"
    rb"public|protected|const|function|method|namespace|interface|this|throws|async|export|import|override|name|"
    rb"memberof|suppress|ngdoc|component|property|prop|readonly)\b"
)
_IMPORT = re.compile(
    rb"import\b(?!\s*\()|export\s*(?:\*|\{[^}]*\}\s*from\b)|['\"]use \w+['\"]|"
    rb"(?:var|let|const)\s{1,9}[\w${}\s,:]{1,500}=\s*require\s*\(|require\s*\(|define\s*\("
)
_NO_LINES = 1 << 30


class EcmaScript(Commented):
    """The rules of both; what each of them says besides is its frame."""

    lexis = Lexis(shebang=SHEBANG)
    marks = Marks(
        directive=DIRECTIVE,
        next_line=NEXT,
        header=_HEADER,
        symbol=_SYMBOL,
        licence=_PINNED,
        file_code=_IMPORT,
        file_lines=_NO_LINES,
        header_lines=2,
        block_words=BLOCK_WORDS,
        line_words=LINE_WORDS,
        beside_licence=False,
    )
    ahead = frozenset({"comment", "hash_bang_line"})
    outline_module = "fleet.jobs.document.languages.outline_ecmascript"
    header_apart = True
    rules = (
        *BLOCK_RULES,
        rule("inline tag", "{@", r"\{@\w+\s+([^{}]*)\}", r"\1"),
        rule(
            "live tag",
            "@",
            r"@(?=(?:ts-|jsx|flow\b|noflow\b|licen[cs]e\b|preserve\b|cc_on\b|jest-|vitest-|vite-|format\b|prettier\b|"
            r"internal\b|file\b|fileoverview\b|overview\b|module\b|packageDocumentation\b|providesModule\b|"
            r"emails\b|suppress\b|deprecated\b))",
            "",
        ),
        rule("tag", "@", r"(?<![\w`@])(@+[A-Za-z](?:[\w./-]*\w)?)", r"`\1`"),
        rule("tag", "@", r"(?<!\S)@+(?!\S)", "at"),
        rule("pure mark", "@__ #__", r"[@#]__(\w+?)__", r"\1"),
        rule(
            "directive",
            "lint- jshint- jslint- biome-",
            r"\b(eslint|tslint|jshint|jslint|biome|deno-lint|stylelint|oxlint)-(?=\w)",
            r"\1 ",
        ),
        rule("directive", ":", r"\b(tslint|jscs|jshint\s+ignore)\s*:", r"\1 "),
        rule("directive", "-ignore", r"\b(prettier|dprint)-ignore", r"\1 ignore"),
        rule("directive", "ignore", r"\b(istanbul|c8|v8)\s+ignore\b", r"\1, ignore"),
        rule("directive", "webpack", r"\bwebpack([A-Z]\w+):", r"webpack \1"),
        rule("source map", "sourceurl sourcemappingurl", r"\bsource(Mapping)?URL\s*=", r"source \1 "),
        rule("page markup", "</script <!--", r"<(?=/script|!--)", "< "),
    )

    def outline(self, path: bytes, content: bytes) -> Outline:
        """Return the outline of a file, read with the grammar of its suffix."""
        from fleet.jobs.document.languages.outline_ecmascript import outline

        return outline(content, self.grammar(path))
