from __future__ import annotations

import pytest

from fleet.jobs.document.languages.outline import Kind, public_names
from fleet.jobs.document.languages.outline_ecmascript import outline

MODULE = b"""/*! Licensed under the MIT License. */
// Keep the books of a small shop.

import base, { Shelf as S, count } from './stock.js';
import * as all from "../all.js";
import './effect.css';
export { Till } from './till.js';
export * from './more.js';

/**
 * A shop with {@link Shelf shelves}. It has more to say.
 * @param name nobody quotes this
 */
export class Shop extends S {
    static size = 3;
    #hidden = 1;
    /** Sell one thing. */
    sell(thing, { price }, ...rest) { throw new RangeError("x"); }
    get open() { return true; }
}

// Add what the things cost together.
const total = async (things, tax = 19) => import('./lazy.js');
function plain() { const text = "import x from 'nowhere'"; }
export { total as sum };
export default function* walk() {}
register('shop', Shop);
"""


def test_an_es_module_gives_its_symbols() -> None:
    found = outline(MODULE)
    assert [(s.name, s.kind, s.line, s.exported, s.signature, s.summary) for s in found.symbols] == [
        ("Shop", Kind.CLASS, 14, True, "", "A shop with shelves."),
        ("sum", Kind.FUNCTION, 23, True, "(things, tax)", "Add what the things cost together."),
        ("plain", Kind.FUNCTION, 24, False, "()", ""),
        ("walk", Kind.FUNCTION, 26, True, "()", ""),
    ]
    assert found.symbols[0].bases == ("S",)
    assert found.symbols[0].raises == ("RangeError",)
    assert found.symbols[1].asynchronous
    assert found.symbols[3].generator
    assert found.leading == ("Keep the books of a small shop.",)


def test_a_class_gives_its_members() -> None:
    shop = outline(MODULE).symbols[0]
    assert [(m.name, m.method, m.signature, m.summary, m.public) for m in shop.members] == [
        ("size", False, "", "", True),
        ("#hidden", False, "", "", False),
        ("sell", True, "(thing, {...}, ...rest)", "Sell one thing.", True),
        ("open", True, "()", "", True),
    ]


def test_imports_reexports_and_calls_come_from_statements() -> None:
    found = outline(MODULE)
    assert [(one.module, one.names, one.lazy) for one in found.imports] == [
        ("./stock.js", ("base", "Shelf", "count"), False),
        ("../all.js", ("*",), False),
        ("./effect.css", (), False),
        ("./till.js", ("Till",), False),
        ("./more.js", ("*",), False),
        ("./lazy.js", ("*",), True),
    ]
    assert [(one.module, one.names) for one in found.reexports] == [("./till.js", ("Till",)), ("./more.js", ("*",))]
    assert [(one.name, one.arguments) for one in found.calls] == [("register", ("shop", "Shop"))]


def test_exported_names_are_public_and_documented_ones_come_first() -> None:
    assert [one.name for one in public_names(outline(MODULE))] == ["Shop", "sum", "walk"]


def test_a_script_that_exports_nothing_gives_its_declarations() -> None:
    found = outline(b"function a() {}\nvar b = 1, _c = 2;\nclass D {}\n")
    assert [one.name for one in public_names(found)] == ["a", "D", "b"]


def test_commonjs_exports_are_seen() -> None:
    source = b"""
const { join, resolve: r } = require('path');
var fs = require("fs").promises;
function open() {}
exports.close = function (file) {};
module.exports = { open, shut: open, ...rest };
"""
    found = outline(source)
    assert [(one.module, one.names) for one in found.imports] == [("path", ("join", "resolve")), ("fs", ())]
    assert [(s.name, s.exported) for s in found.symbols] == [("open", True), ("close", True)]


def test_a_comment_behind_code_belongs_to_that_code() -> None:
    found = outline(b"const a = 1; // how many of them there are\nconst b = 2;\n")
    assert [(s.name, s.summary) for s in found.symbols] == [("a", ""), ("b", "")]


def test_module_exports_of_a_class_or_a_name_is_seen() -> None:
    assert [one.name for one in public_names(outline(b"class A {}\nclass B {}\nmodule.exports = B;"))] == ["B"]
    assert [one.name for one in public_names(outline(b"module.exports = class C {};"))] == ["C"]


def test_an_amd_module_is_read_inside() -> None:
    found = outline(b"define(['./a', 'b'], function (a, b) { /** Do it well. */ function go() {} return go; });")
    assert [one.module for one in found.imports] == ["./a", "b"]
    assert [(s.name, s.summary) for s in found.symbols] == [("go", "Do it well.")]


def test_methods_on_a_prototype_make_a_class() -> None:
    found = outline(b"function P(x) {}\nP.prototype.go = function (y) {};\n")
    assert found.symbols[0].kind is Kind.CLASS
    assert [(m.name, m.signature) for m in found.symbols[0].members] == [("go", "(y)")]


def test_a_compiled_enum_is_an_enum() -> None:
    source = b'var E;\n(function (E) {\n E[E["A"] = 0] = "A";\n E["B"] = "b";\n})(E || (E = {}));\nexport { E };\n'
    symbol = outline(source).symbols[0]
    assert (symbol.name, symbol.kind, symbol.exported) == ("E", Kind.ENUM, True)
    assert [m.name for m in symbol.members] == ["A", "B"]


def test_the_label_that_a_constructor_hands_to_its_base_is_kept() -> None:
    source = b"class A extends B { constructor() { super({ id: 'a.b', label: localize(3, 'Do it') }); } }"
    assert outline(source).symbols[0].label == "Do it [a.b]"


TYPES = b"""
/** What can be sold. */
export interface Thing<T> extends Named, Priced<T> { readonly price: number; sell(to: string): void; }
export type Maybe = Thing<string> | null;
export enum Size { Small, Large = 3 }
export abstract class Base<T> implements Thing<T> { private secret = 1; protected abstract go(a?: number): void; }
export declare function f(a: string): string;
export function g(a: string): string;
export function g(a: number): number;
/** Give it back as it came. */
export function g(a: any) { return a; }
namespace Inner { export const x = 1; }
import type { Named } from './named';
"""


def test_typescript_gives_its_types() -> None:
    found = outline(TYPES, "typescript")
    assert not found.has_error
    assert [(s.name, s.kind, s.exported) for s in found.symbols if s.name != "g"] == [
        ("Thing", Kind.INTERFACE, True),
        ("Maybe", Kind.TYPE, True),
        ("Size", Kind.ENUM, True),
        ("Base", Kind.CLASS, True),
        ("f", Kind.FUNCTION, True),
        ("Inner", Kind.NAMESPACE, False),
    ]
    thing = found.symbols[0]
    assert thing.bases == ("Named", "Priced")
    assert [m.name for m in thing.members] == ["price", "sell"]
    base = next(s for s in found.symbols if s.name == "Base")
    assert [(m.name, m.public) for m in base.members] == [("secret", False), ("go", False)]


def test_overloads_of_typescript_are_public_once() -> None:
    names = [(one.name, one.summary) for one in public_names(outline(TYPES, "typescript"))]
    assert names == [
        ("Thing", "What can be sold."),
        ("g", "Give it back as it came."),
        ("Base", ""),
        ("f", ""),
        ("Maybe", ""),
        ("Size", ""),
    ]


def test_tsx_is_read_with_its_own_grammar() -> None:
    found = outline(b"export const App = (p: P) => <div>{p.x}</div>;\n", "typescript.tsx")
    assert not found.has_error
    assert [(s.name, s.signature) for s in found.symbols] == [("App", "(p)")]


HOSTILE = [
    b"",
    b"\x00\x01",
    bytes(range(256)) * 20,
    b"{" * 100_000,
    b"(function(){" * 3_000,
    b"a=b=" * 20_000,
    b"x" + b".y" * 30_000 + b"();",
    b"require('a')" + b".b" * 30_000,
    b"export" * 5_000,
    b"import {" + b"a," * 20_000 + b"} from 'x",
    b"module.exports =",
    b"exports. = ; module.exports = { get a() {}, [b]: 1, 'c': 2 }; export default; class extends {}",
    b"/**" * 5_000 + b"\nfunction f() {}",
    b"\xef\xbb\xbf#!/x\n'use strict'\r\rvar \xe9 = 1",
]


@pytest.mark.parametrize("grammar", ["javascript", "typescript", "typescript.tsx"])
@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_no_bytes_make_it_raise(content: bytes, grammar: str) -> None:
    public_names(outline(content, grammar))


def test_a_comment_above_a_required_module_is_about_the_file() -> None:
    found = outline(
        b"// Sell tea to everybody who comes in.\nconst till = require('./till')\nexports.pay = () => till()\n"
    )
    assert found.leading == ("Sell tea to everybody who comes in.",)


def test_the_mark_of_a_compiled_module_is_no_call() -> None:
    assert outline(b'"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\n').calls == ()
