"""Files in the nine languages whose header is a comment and whose names are declared, written for these tests."""

from __future__ import annotations

SLASHES = "// Copyright 2020 Somebody.\n// Licensed under the MIT License.\n"
BLOCK = "/*\n * Copyright 2020 Somebody.\n * Licensed under the MIT License.\n */\n"

DECLARED = {
    "queue.go": (
        SLASHES + "\n//go:build linux\n// +build linux\n\npackage queue\n\n/*\n#include <stdio.h>\n*/\n"
        'import "C"\n\nimport (\n\t"fmt"\n\t"net/http"\n)\n\n// Limit is the largest queue.\nconst Limit = 16\n\n'
        "// Queue holds items in order.\ntype Queue struct {\n\titems []string // kept\n}\n\n"
        "// Push adds an item to its end.\nfunc (q *Queue) Push(item string) error {\n"
        '\tq.items = append(q.items, item)\n\treturn fmt.Errorf("/* %s */", item)\n}\n\n'
        "//export serve\nfunc serve(w http.ResponseWriter) {}\n"
    ),
    "plain.go": "package main\n\nfunc main() {\n\tprintln(`// no comment`)\n}\n",
    "queue.rs": (
        SLASHES + "\n#![allow(dead_code)]\n\nuse crate::shop::{Till, Coin};\nuse std::fmt;\n\n"
        "/// A queue.\n///\n/// More of it.\n#[derive(Debug)]\npub struct Queue<T> {\n    items: Vec<T>, // kept\n}\n\n"
        "impl<T> Queue<T> {\n    /// Adds an item to the end.\n    pub fn push(&mut self, item: T) {\n"
        "        self.items.push(item)\n    }\n}\n\nimpl<T> fmt::Display for Queue<T> {\n"
        '    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {\n        write!(out, "/* {} */", 1)\n    }\n}\n'
    ),
    "tool.rs": "#!/usr/bin/env run\n/* a /* nested */ one */\nfn main() {\n    let c = '\"';\n}\n",
    "Queue.java": (
        BLOCK + "package shop.queue;\n\nimport java.util.List;\nimport shop.Till;\n\n"
        "/**\n * A queue of {@code items}.\n *\n * @param <T> what it holds\n */\n@Deprecated\n"
        "public class Queue<T> extends Base<T> implements Runnable {\n    private int size = 3; // kept\n\n"
        "    /** Adds an item to the end. */\n    public void push(final String item, int... more) {\n"
        '        String text = "/* \\u002a */";\n    }\n\n    public void run() {}\n}\n'
    ),
    "Bare.java": "class Bare {\n    int x = 1; /* one */\n}\n",
    "Queue.kt": (
        BLOCK + '@file:JvmName("Queues")\n\npackage shop.queue\n\nimport shop.Till\n\n'
        "/** A queue of items. */\npublic class Queue(val limit: Int) : Base(), Runnable {\n"
        "    /* one /* in another */ one */\n    /** Adds an item to the end. */\n"
        '    fun push(item: String) = "${item} // ${limit}"\n\n    private val hidden = 3\n}\n\n'
        "internal fun helper(a: Int) = a\nfun String.twice(): String = this + this\n"
    ),
    "tool.kts": '#!/usr/bin/env kotlinc\nprintln("a")\n',
    "queue.c": (
        BLOCK + '#include <stdio.h>\n#include "queue.h"\n\n/* The largest queue that we keep. */\n#define LIMIT 16\n\n'
        "/* Add an item to the end of the queue. */\nint queue_push(struct queue *q, const char *item)\n{\n"
        '    printf("/* %s */ \\\n", item); // kept \\\n    and more\n    return 0;\n}\n\n'
        "static int hidden(void) { return '\"'; }\n"
    ),
    "queue.h": (
        "#ifndef QUEUE_H\n#define QUEUE_H\n\nstruct queue {\n    int size; /* kept */\n};\n\n"
        "int queue_push(struct queue *q, const char *item);\n\n#endif\n"
    ),
    "queue.cc": (
        SLASHES + '#include "shop/queue.h"\n\n#include <vector>\n\nnamespace shop {\n\n/// A queue of items.\n'
        "class SHOP_EXPORT Queue : public Base {\n public:\n  // Adds an item to the end.\n  void Push(int item);\n\n"
        ' private:\n  int size_; // kept\n};\n\nvoid Queue::Push(int item) { auto s = R"(// no comment)"; }\n\n'
        "}  // namespace shop\n"
    ),
    "plain.hpp": "#pragma once\ntemplate <typename T>\nT twice(T a) { return a + a; /* sum */ }\n",
    "Queue.cs": (
        "#region License\n// Copyright (c) 2020 Somebody.\n#endregion\n\n#define FAST\nusing System;\n\n"
        'namespace Shop.Queues\n{\n    /// <summary>\n    /// A queue of <see cref="T:Item"/> objects.\n'
        "    /// </summary>\n    [Serializable]\n    public class Queue<T> : Base, IDisposable\n    {\n"
        "        public int Size { get; set; } // kept\n\n        /// <summary>Adds an item to the end.</summary>\n"
        '        public void Push(T item) { var s = @"// no comment"; }\n    }\n}\n'
    ),
    "Bare.cs": "class Bare\n{\n    int x = 1; /* one */\n}\n",
    "Queue.swift": (
        "//\n//  Queue.swift\n//  Shop\n//\n//  Created by Some Body on 1.1.20.\n//\n\nimport Foundation\n\n"
        "/// A queue of items.\n///\n/// - Parameter T: what it holds\npublic final class Queue<T>: Base, Runnable {\n"
        "    /* one /* in another */ one */\n    private let size = 3 // kept\n\n    /// Adds an item to the end.\n"
        '    public func push(_ item: T, more: Int = 0) -> Int { print("// \\(size)"); return 1 }\n}\n'
    ),
    "Package.swift": (
        "// swift-tools-version:5.3\n// The tools version that builds this package.\n\nimport PackageDescription\n\n"
        'let package = Package(name: "shop")\n'
    ),
    "queue.rb": (
        "#!/usr/bin/env ruby\n# frozen_string_literal: true\n# Copyright 2020 Somebody.\n\nrequire 'set'\n"
        "require_relative 'till'\n\nmodule Shop\n  # A queue of items.\n  class Queue < Base\n    LIMIT = 16 # kept\n\n"
        '    # Adds an item to the end.\n    def push(item, more = nil)\n      "#{item} # no comment"\n    end\n\n'
        "    private\n\n    def hidden; end\n  end\nend\n"
    ),
    "plain.rb": "# encoding: utf-8\nclass Plain\nend\n=begin\nthe end\n=end\n",
}
