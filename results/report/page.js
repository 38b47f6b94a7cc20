"use strict";
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const themes = read("themes");

  // Plots are drawn when they come near the view, and again when the colour scheme changes.
  const drawn = new Map();
  function draw(figure) {
    const box = figure.querySelector(".canvas");
    const spec = read(figure.id + "-spec");
    const before = drawn.get(figure);
    drawn.set(figure, null);
    const mode = dark.matches ? "dark" : "light";
    return vegaEmbed(box, spec, {
      config: themes[mode], renderer: "svg", actions: false, ast: true, tooltip: { theme: mode === "dark" ? "dark" : "" },
    }).then((made) => {
      if (before) before.finalize();
      drawn.set(figure, made);
      box.style.minHeight = "0";
    });
  }
  const figures = [...document.querySelectorAll("figure.plot")];
  const near = new IntersectionObserver((seen) => {
    for (const one of seen) {
      if (one.isIntersecting) {
        near.unobserve(one.target);
        draw(one.target);
      }
    }
  }, { rootMargin: "800px" });
  figures.forEach((figure) => near.observe(figure));
  dark.addEventListener("change", () => [...drawn.keys()].forEach(draw));
  addEventListener("beforeprint", () => figures.filter((figure) => !drawn.has(figure)).forEach(draw));

  // All text of a run goes through text nodes; nothing of it is ever read as HTML.
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return element;
  }
  async function unpack(id) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (one) => one.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }
  const seconds = (value) => (value < 1 ? Math.round(value * 1000) + " ms" : Number(value.toPrecision(3)) + " s");
  const number = (value) => value.toLocaleString("en");
  const many = (value, one, more) => number(value) + " " + (value === 1 ? one : more);
  const dollars = (value) => "$" + (value >= 1 ? value.toFixed(2) : Number(value.toPrecision(2)));

  function call(one) {
    const tokens = (one.input_tokens || one.output_tokens)
      ? `, ${number(one.input_tokens || 0)} tokens in, ${number(one.output_tokens || 0)} out` : "";
    const cost = one.cost_usd ? `, ${dollars(one.cost_usd)}` : "";
    const took = one.latency_s === null ? "" : `, ${seconds(one.latency_s)}`;
    const source = one.source ? ` from ${one.source}` : "";
    const end = one.outcome + (one.why ? `: ${one.why}` : "");
    return make("li", null, `attempt ${one.attempt || 1}, ${one.purpose}: ${one.model}${source}: ${end}${tokens}${cost}${took}`);
  }
  function move(one) {
    const by = one.with_intents ? `, moved by ${one.with_intents.join(", ")}` : "";
    const rest = one.moved_by > (one.with_intents || []).length ? ` (${many(one.moved_by, "landing", "landings")} in all)` : "";
    const end = one.redone_by ? `redone by ${one.redone_by}${one.rule ? ` ${one.rule}` : ""}` : "every step declined";
    const to = one.moved_to ? ` (now ${one.moved_to})` : "";
    const item = make("li", null, `attempt ${one.attempt}: ${one.path}${to}, ${one.collision}${by}${rest}: ${end}`);
    if (one.declined) item.append(make("ul", null, ...one.declined.map((why) => make("li", null, `declined: ${why}`))));
    return item;
  }
  const WORDS = { admitted: "taken by an agent", answered: "answered", queued: "handed in" };
  function story(told, ending, simulated) {
    const box = make("div", { class: "story" });
    const line = (name, value) => value && box.append(make("p", null, make("b", null, name + " "), value));
    const list = (title, items) => items && box.append(make("h4", null, title), make("ul", null, ...items));
    if (told.asked) box.append(make("p", null, told.asked));
    if (told.scope) line("Scope", told.scope.join(", ") + (told.paths > told.scope.length ? ` and ${told.paths - told.scope.length} more` : ""));
    line("Agent", told.agent);
    line("Attempts", told.attempts > 1 ? number(told.attempts) : "");
    if (told.times) {
      box.append(make("h4", null, "When" + (simulated ? " (simulated seconds)" : "")),
        make("ol", null, ...told.times.map(([name, at]) => make("li", null, `+${at} s ${WORDS[name] || ending}`))));
    }
    list("Model calls", told.asked_of && told.asked_of.map(call));
    list("Collisions", told.moves && told.moves.map(move));
    if (told.train) {
      const size = told.train.size ? `, ${many(told.train.size, "intent", "intents")}` : "";
      const gate = told.train.verdict ? `, ${told.train.verdict} after ${many(told.train.checks || 0, "check", "checks")}` : "";
      line("Train", told.train.train + size + gate + (told.train.flake ? ", a flake" : ""));
    }
    line("Cost", told.cost_usd ? dollars(told.cost_usd) : "");
    if (told.commit) box.append(make("p", null, make("b", null, "Commit "), make("code", null, told.commit)));
    return box;
  }

  const STEP = 40;
  class List {
    constructor(root) {
      this.root = root;
      this.key = root.dataset.key;
      this.piece = Number(root.dataset.piece);
      this.simulated = root.dataset.simulated === "yes";
      this.pieces = new Map();
      this.items = root.querySelector("ol");
      this.status = root.querySelector("[role=status]");
      this.more = root.querySelector("button");
      this.search = root.querySelector("input");
      this.ending = root.querySelector("select");
      this.search.addEventListener("input", () => this.filter());
      this.ending.addEventListener("change", () => this.filter());
      this.more.addEventListener("click", () => this.show());
    }
    async ready() {
      if (!this.index) {
        this.index = await unpack(this.key + "-index");
        const { intent, reason, lane } = this.index;
        this.words = intent.map((id, at) => `${id}\n${reason[at] || ""}\n${lane[at] || ""}`.toLowerCase());
        this.filter();
      }
      return this;
    }
    filter() {
      const wanted = this.search.value.trim().toLowerCase();
      const ending = this.ending.value;
      this.found = [...this.words.keys()].filter((at) =>
        this.words[at].includes(wanted) && (!ending || this.index.ending[at] === ending));
      this.shown = 0;
      this.items.replaceChildren();
      this.show();
    }
    show() {
      const next = this.found.slice(this.shown, this.shown + STEP);
      this.items.append(...next.map((at) => this.item(at)));
      this.shown += next.length;
      this.more.hidden = this.shown >= this.found.length;
      this.status.textContent = `${many(this.found.length, "intent", "intents")}, ${number(this.shown)} shown`;
    }
    item(at) {
      const { intent, ending, reason, lane, seconds: took, collided } = this.index;
      const facts = [lane[at], took[at] === null ? "" : seconds(took[at]), collided[at] ? many(collided[at], "path collided", "paths collided") : ""];
      const details = make("details", { "data-at": at }, make("summary", null,
        make("span", { class: "id" }, intent[at]),
        make("span", { class: "ending-" + ending[at].replace(/ /g, "-") }, ending[at]),
        make("span", { class: "quiet" }, facts.filter(Boolean).join(" · "))));
      details.addEventListener("toggle", () => this.open(details, at, reason[at]), { once: true });
      return make("li", null, details);
    }
    async open(details, at, reason) {
      if (reason) details.append(make("p", { class: "story" }, reason));
      const number = Math.floor(at / this.piece);
      if (!document.getElementById(`${this.key}-piece-${number}`)) {
        details.append(make("p", { class: "story quiet" }, "This story was left out to keep the page small: qodebase log RUN INTENT shows it."));
        return;
      }
      if (!this.pieces.has(number)) this.pieces.set(number, unpack(`${this.key}-piece-${number}`));
      details.append(story((await this.pieces.get(number))[at % this.piece], this.index.ending[at], this.simulated));
    }
    async reveal(id) {
      await this.ready();
      this.ending.value = "";
      this.search.value = id;
      this.filter();
      const at = this.found.find((one) => this.index.intent[one] === id);
      const details = at === undefined ? null : this.items.querySelector(`details[data-at="${at}"]`);
      if (details) {
        details.open = true;
        details.querySelector("summary").focus({ preventScroll: true });
      }
      this.root.scrollIntoView();
    }
  }
  const lists = new Map();
  const waiting = new IntersectionObserver((seen) => {
    for (const one of seen) {
      if (one.isIntersecting) {
        waiting.unobserve(one.target);
        lists.get(one.target.dataset.key).ready();
      }
    }
  }, { rootMargin: "800px" });
  for (const root of document.querySelectorAll(".stories")) {
    lists.set(root.dataset.key, new List(root));
    waiting.observe(root);
  }
  for (const link of document.querySelectorAll("a[data-intent]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      lists.get(link.dataset.of).reveal(link.dataset.intent);
    });
  }
})();
