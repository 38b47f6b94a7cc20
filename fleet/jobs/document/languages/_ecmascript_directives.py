"""The comments of JavaScript and TypeScript that speak to a tool."""

from __future__ import annotations

import re

NEXT = re.compile(
    rb"(?:[*/!\s]*)(?:eslint-disable-(?:next-)?line|@ts-(?:ignore|expect-error)|tslint:disable-next-line|"
    rb"(?:istanbul|c8|v8|node:coverage)\s+ignore|prettier-ignore|biome-ignore\b(?!-all)|deno-lint-ignore(?!-file)|"
    rb"dprint-ignore(?!-file)|jshint\s+ignore:line|jscs:ignore|oxlint-disable-next-line|\$Flow\w+|"
    rb"stylelint-disable-next-line|noinspection\b|webpack[A-Z]\w+:|[@#]__\w+__|@vite-ignore)"
)
DIRECTIVE = re.compile(
    rb"\A[*/!\s]*(?:eslint(?:-env|-disable|-enable)?\b|tslint:|jshint\b|jslint\b|jscs:|globals?\s+\w+|exported\s+\w|"
    rb"/\s*<|biome-ignore-all|deno-(?:lint-ignore|fmt-ignore|coverage-ignore)-file|dprint-ignore-file|oxlint-disable|"
    rb"stylelint-disable|cspell:|spell-?checker|(?:istanbul|v8)\s+ignore\s+file|[#@]\s*source(?:Mapping)?URL=|"
    rb"==/?UserScript==|=\s*require|-\*-|(?:vim?|ex):|prettier-ignore-start|node:coverage\s+(?:disable|enable))|"
    rb"^[*/!\s]{0,80}(?:@ts-(?:no)?check\b|@(?:flow|noflow)\b|@jsx\w*\b|@jest-|@vitest-|@format\b|@prettier\b|"
    rb"@providesModule\b|@emails\b|@cc_on\b|@vue/)",
    re.MULTILINE,
)


def for_tools(comment: str) -> bool:
    """Return whether one comment, marks on, speaks to a tool and not to people."""
    text = comment.encode()
    return NEXT.match(text) is not None or DIRECTIVE.search(text) is not None
