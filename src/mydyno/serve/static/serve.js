"use strict";
/* The live parts of the pages of mydyno serve. Text from the lab is only ever set as text, or comes as a part of
   a page that the server has escaped. */

const at = (root, selector) => root.querySelector(selector);

/* Pieces of the page are fetched again and take the place of those with their ids; what has the focus keeps it. */
async function refresh(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) return false;
  const fetched = document.createElement("template");
  fetched.innerHTML = await answer.text();
  const usable = (piece) => [...piece.querySelectorAll("a,button,input,[tabindex]")];
  for (const piece of [...fetched.content.children]) {
    const old = document.getElementById(piece.id);
    const focused = usable(old).indexOf(document.activeElement);
    const scrolled = [...old.querySelectorAll(".box")].map((box) => box.scrollLeft);
    old.replaceWith(piece);
    piece.querySelectorAll(".box").forEach((box, place) => { box.scrollLeft = scrolled[place] || 0; });
    if (focused >= 0) usable(piece)[focused]?.focus({ preventScroll: true });
  }
  return true;
}

/* ---- The list ---- */

const verdicts = new Map(); // By run and number of its trials.
const keyOf = (place) => place.dataset.verdict + at(place.closest("tr"), "[data-label=Trials]").textContent;
const places = () => [...document.querySelectorAll("[data-verdict]")];

function showVerdicts() {
  for (const place of places()) if (verdicts.has(keyOf(place))) place.textContent = verdicts.get(keyOf(place));
}

async function fetchVerdicts() {
  // One after the other: the lab has one reader.
  for (const place of places()) {
    if (!place.isConnected || verdicts.has(keyOf(place))) continue;
    const began = performance.now();
    const answer = await fetch(place.dataset.verdict, { credentials: "same-origin" }).catch(() => null);
    if (answer?.ok) {
      verdicts.set(keyOf(place), await answer.json());
      showVerdicts();
    }
    // While something is measured, verdicts of other runs may take 2% of a CPU.
    if (at(document, ".live-mark")) await new Promise((done) => setTimeout(done, Math.min(30000, 50 * (performance.now() - began))));
  }
}

function watchList() {
  let fetching = null;
  const fill = () => {
    showVerdicts();
    fetching ??= fetchVerdicts().finally(() => { fetching = null; });
  };
  fill();
  setInterval(async () => {
    if (document.hidden || document.querySelector("#runs input:checked")) return;
    const address = new URL(location.href);
    address.searchParams.set("part", "1");
    if (await refresh(address).catch(() => false)) fill();
  }, 5000);
}

/* ---- One run ---- */

const KEPT = 3600; // Points of a curve.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const series = (slot) => {
  const probe = document.createElement("span");
  probe.className = "s" + (slot % 8);
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};
const number = (value, digits = 3) => value === null || value === undefined ? "–" : value.toLocaleString("en", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits });
const milliseconds = (ns) => ns === null || ns === undefined ? null : ns / 1e6;
const latency = (ns) => ns === null || ns === undefined ? "–" : ns < 1e6 ? number(ns / 1e3) + " µs" : ns < 1e9 ? number(ns / 1e6) + " ms" : number(ns / 1e9) + " s";

/* A curve over time: columns of numbers, drawn by uPlot, again in other colours when the theme changes. */
class Curve {
  constructor(box, names, right = []) {
    this.box = box;
    this.names = names;
    this.right = right; // Names of the second axis.
    this.data = [[], ...names.map(() => [])];
    this.due = false;
    this.draw();
    new ResizeObserver(() => this.plot.setSize(this.size())).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }
  size() { return { width: Math.max(200, this.box.clientWidth), height: 170 }; }
  draw() {
    this.plot?.destroy();
    const axis = (more) => ({ stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, size: 54, font: "12px sans-serif", ...more });
    const line = (name, place) => ({
      label: name, stroke: series(place), width: 2, points: { show: false }, spanGaps: true,
      scale: this.right.includes(name) ? "right" : "y", dash: this.right.includes(name) ? [6, 3] : undefined,
      value: (_, value) => number(value),
    });
    const clock = (_, ticks) => ticks.map((tick) => new Date(tick * 1000).toLocaleTimeString("en-GB"));
    const axes = [axis({ size: 28, space: 80, values: clock }), axis({ values: (_, ticks) => ticks.map((tick) => number(tick)) })];
    if (this.right.length) axes.push(axis({ scale: "right", side: 1, grid: { show: false }, values: (_, ticks) => ticks.map((tick) => number(tick)) }));
    const from0 = { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] };
    this.plot = new uPlot({
      ...this.size(), scales: { y: from0, right: from0 }, axes, cursor: { drag: { x: false, y: false } },
      legend: { show: this.names.length > 1, live: false },
      series: [{}, ...this.names.map(line)],
    }, this.data, this.box);
  }
  add(time, values) {
    // A clock that was set back must not turn the curve round.
    this.data[0].push(Math.max(time, this.data[0].at(-1) ?? time));
    values.forEach((value, place) => this.data[place + 1].push(value ?? null));
    if (this.data[0].length > KEPT) this.data.forEach((column) => column.shift());
    if (!this.due) {
      this.due = true;
      requestAnimationFrame(() => { this.due = false; this.plot.setData(this.data); });
    }
  }
  clear() {
    this.data = [[], ...this.names.map(() => [])];
    this.plot.setData(this.data);
  }
}

/* What runs in one place: on this machine, or on one host of a fleet. */
class Panel {
  constructor(host) {
    this.host = host;
    this.root = at(document, "#panel").content.firstElementChild.cloneNode(true);
    at(document, "#panels").append(this.root);
    this.points = [""];
    this.phases = 0;
    this.errors = 0;
    this.build();
  }
  build() {
    for (const box of this.root.querySelectorAll(".curve")) box.replaceChildren();
    const several = this.points.length > 1;
    const named = (name) => this.points.map((point) => several ? point : name);
    this.curves = {
      rate: new Curve(this.curve("rate"), named("rate")),
      latency: new Curve(this.curve("latency"), several ? this.points.map((point) => "p95 " + point) : ["p50", "p95", "p99"]),
      threads: new Curve(this.curve("threads"), ["threads created/s", "connections"], ["connections"]),
      cpu: new Curve(this.curve("cpu"), ["CPUs", "read MB/s", "written MB/s"], ["read MB/s", "written MB/s"]),
    };
  }
  curve(name) { return at(this.root, `[data-curve=${name}]`); }
  value(name, text) { at(this.root, `[data-value=${name}]`).textContent = text; }
  label(name, text) { this.curve(name).setAttribute("aria-label", text); }
  text(name, text) { at(this.root, `[data-${name}]`).textContent = text; }
  hear(event) {
    const heard = this[event.type.replaceAll("-", "_")];
    if (heard) heard.call(this, event);
  }
  trial_started(event) {
    const where = event.control ? `A/A over hosts ${event.number} of ${event.planned}` : `trial ${event.number} of ${event.planned}, block ${event.block}`;
    this.text("heading", `${this.host ? this.host + ": " : ""}${event.trial}, ${where}: ${event.point}`);
    this.phases = event.phases;
    this.root.dataset.trial = event.trial;
    Object.values(this.curves).forEach((curve) => curve.clear());
    for (const name of ["rate", "p50", "p95", "p99", "cpu", "disk", "connections", "threads"]) this.value(name, "–");
  }
  step(event) {
    const share = event.of && event.done !== null ? ` ${Math.round(100 * event.done / event.of)}%` : "";
    this.text("step", event.text + share);
  }
  resting(event) { this.text("step", `resting ${number(event.seconds)} s before block ${event.block}`); }
  phase_started(event) {
    this.errors = 0;
    this.value("errors", "0");
    const work = event.work === "ios" ? `${event.connections} I/Os at a time` : `${event.connections} connections`;
    this.text("step", `phase ${event.phase + 1} of ${this.phases}: ${event.label || work}`);
    if (event.work === "ios") for (const name of this.root.querySelectorAll("[data-rate-name]")) name.textContent = "I/Os per second";
  }
  measured(event) {
    let place = this.points.indexOf(event.point);
    if (place < 0) {
      this.points = this.points[0] === "" ? [event.point] : [...this.points, event.point];
      place = this.points.length - 1;
      this.build();
    }
    this.errors += event.errors;
    this.value("errors", number(this.errors));
    this.value("rate", number(event.queries_per_second));
    this.value("p50", latency(event.p50_ns));
    this.value("p95", latency(event.p95_ns));
    this.value("p99", latency(event.p99_ns));
    const at_place = (value) => this.points.map((_, other) => other === place ? value : null);
    this.curves.rate.add(event.at, at_place(event.queries_per_second));
    const ns = [event.p50_ns, event.p95_ns, event.p99_ns].map(milliseconds);
    this.curves.latency.add(event.at, this.points.length > 1 ? at_place(ns[1]) : ns);
    this.label("rate", `Rate over time, now ${number(event.queries_per_second)} per second`);
    this.label("latency", `Latency over time, now p95 ${latency(event.p95_ns)}`);
  }
  sampled(event) {
    const mb = (bytes) => bytes === null ? null : bytes / 1e6;
    const [read, written] = [mb(event.read_bytes_per_second), mb(event.write_bytes_per_second)];
    this.value("cpu", event.server_cpu === null ? "–" : `${number(event.server_cpu)} CPUs`);
    this.value("disk", read === null && written === null ? "–" : `${number(read)} + ${number(written)} MB/s`);
    this.value("connections", number(event.threads_connected));
    this.value("threads", event.threads_created_per_second === null ? "–" : `${number(event.threads_created_per_second)}/s`);
    this.curves.threads.add(event.at, [event.threads_created_per_second, event.threads_connected]);
    this.curves.cpu.add(event.at, [event.server_cpu, read, written]);
    this.label("threads", `Threads created per second, now ${number(event.threads_created_per_second)}; connections, now ${number(event.threads_connected)}`);
    this.label("cpu", `CPUs used by the server, now ${number(event.server_cpu)}; disk, now ${number(read)} MB/s read and ${number(written)} MB/s written`);
  }
  trial_finished(event) {
    this.text("step", `${event.trial} ${event.status}${event.reasons.length ? ": " + event.reasons.join("; ") : ""}`);
    delete this.root.dataset.trial;
  }
  host_lost(event) { this.text("step", `lost: ${event.reason}`); }
  host_returned() { this.text("step", "answers again"); }
}

const SHOW_MS = 2000; // Numbers of a run are shown together: each frame that the browser paints is taken from the server that is measured.

class Watch {
  constructor(live) {
    this.live = live;
    this.last = Number(live.dataset.after);
    this.waiting = [];
    this.showing = null;
    this.panels = new Map();
    this.due = null;
    this.listen();
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.update(0); });
    // Time left goes on, and a run that was killed says nothing.
    setInterval(() => { if (!document.hidden) this.update(0); }, 15000);
  }
  say(text) { const place = at(document, "#link"); if (place.textContent !== text) place.textContent = text; }
  listen() {
    this.source = new EventSource(`${this.live.dataset.events}?after=${this.last}`);
    this.source.onopen = () => this.say("live");
    this.source.onmessage = (message) => this.hear(message);
    this.source.addEventListener("reset", () => location.reload());
    this.source.onerror = () => {
      this.say("not connected: trying again");
      // The browser tries again by itself, with the last number, unless it was answered with an error.
      if (this.source.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), 3000);
    };
  }
  hear(message) {
    this.last = Number(message.lastEventId);
    let event;
    try { event = JSON.parse(message.data); } catch { return; }
    this.waiting.push(event);
    if (!["measured", "sampled"].includes(event.type)) this.show();
    else this.showing ??= setTimeout(() => this.show(), SHOW_MS);
  }
  show() {
    clearTimeout(this.showing);
    this.showing = null;
    while (this.waiting.length) this.take(this.waiting.shift());
  }
  take(event) {
    const host = event.host || "";
    if (["trial-started", "trial-finished", "looked", "run-started", "run-finished", "run-interrupted", "host-lost"].includes(event.type)) this.update(300, event);
    if (event.type === "run-started") this.live.hidden = false;
    if (event.type.startsWith("run-") || event.type === "looked" || event.type === "hosts-compared") return;
    if (host && this.panels.has("")) { this.panels.get("").root.remove(); this.panels.delete(""); }
    if (!this.panels.has(host)) this.panels.set(host, new Panel(host));
    this.panels.get(host).hear(event);
  }
  update(after, event) {
    if (event && event.type === "trial-finished" && event.status !== "valid") this.news(`${event.trial} ${event.status}: ${event.reasons.join("; ")}`);
    if (this.due) return;
    this.due = setTimeout(async () => {
      this.due = null;
      const verdict = () => at(document, "h1").textContent;
      const before = verdict();
      if (!await refresh(this.live.dataset.part).catch(() => false)) return;
      if (verdict() !== before) this.news(verdict());
      const state = at(document, "#run-state").dataset.state;
      document.title = document.title.replace(/: [a-z ]+$/, ": " + state);
      this.live.hidden = state !== "running";
    }, after);
  }
  news(text) { at(document, "#news").textContent = text; }
}

document.addEventListener("DOMContentLoaded", () => {
  const live = at(document, "#live");
  if (at(document, "#runs")) watchList();
  if (live) window.watch = new Watch(live);
});
