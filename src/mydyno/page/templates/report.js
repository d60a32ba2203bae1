/* Draws the page's charts again, to be touched: with tooltips, a zoom, and lines that can be put away.
   Without it the page is whole too: each figure stands in it as a picture. */
"use strict";
(() => {
  const NARROW_BELOW = 560; // px of the box; a narrower one gets the chart that was drawn for telephones
  const LEAST_PANEL = 60; // px
  const STEP = 0.25; // of what is shown, for one press of a zoom button
  const READ = (id) => JSON.parse(document.getElementById(id).textContent);
  const {config, locale} = READ("page-settings");

  // ---- Tooltip: one box for all charts; text only, never markup.
  const tooltip = document.createElement("div");
  tooltip.className = "tooltip";
  tooltip.hidden = true;
  tooltip.setAttribute("aria-hidden", "true");
  document.body.append(tooltip);

  function textOf(value) {
    if (value === null || typeof value !== "object") return String(value);
    return Object.entries(value).map(([name, each]) => `${name}: ${each}`).join("\n");
  }

  function showTooltip(_handler, event, _item, value) {
    tooltip.hidden = value === null || value === undefined || value === "";
    if (tooltip.hidden) return;
    tooltip.textContent = textOf(value);
    const {offsetWidth: width, offsetHeight: height} = tooltip;
    const room = document.documentElement.clientWidth;
    const left = event.clientX + 14 + width > room ? event.clientX - width - 10 : event.clientX + 14;
    tooltip.style.left = `${Math.max(4, left)}px`;
    tooltip.style.top = `${Math.max(4, event.clientY - height - 10)}px`;
  }

  // ---- Charts: drawn when they come near the window, and anew when their box changes its width.
  const boxes = new Map(); // box -> {width, view, place}, once it is drawn

  function rows(columns) {
    const names = Object.keys(columns);
    const length = names.length ? columns[names[0]].length : 0;
    return Array.from({length}, (_, at) => Object.fromEntries(names.map((name) => [name, columns[name][at]])));
  }

  /** The specification for a box of `width` pixels, its panels stretched until all fit it. */
  function fitted(chart, width) {
    const drawn = width < NARROW_BELOW ? chart.narrow : chart.wide;
    const panels = drawn.spec.concat ?? [drawn.spec];
    const across = Math.min(drawn.spec.columns ?? 1, panels.length);
    const more = Math.floor((width - drawn.width) / across);
    for (const panel of panels) panel.width = Math.max(LEAST_PANEL, panel.width + more);
    drawn.spec.datasets = chart.datasets;
    return drawn.spec;
  }

  async function draw(box) {
    const width = Math.floor(box.clientWidth);
    const before = boxes.get(box);
    if (width === 0 || before?.width === width) return;
    const place = before?.place ?? box.appendChild(document.createElement("div"));
    boxes.set(box, {width, place, view: before?.view});
    const spec = fitted(READ(`chart-${box.dataset.chart}`), width);
    if (box.dataset.sets) {
      const sets = Object.entries(READ(`sets-${box.dataset.sets}`));
      for (const [name, columns] of sets) spec.datasets[name] = rows(columns);
    }
    place.className = "live";
    place.setAttribute("aria-hidden", "true"); // the box has a label, the numbers a table
    const {view, finalize} = await vegaEmbed(place, spec, {
      mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false,
      config, formatLocale: locale, tooltip: showTooltip,
    });
    before?.finalize?.();
    boxes.set(box, {width, place, view, finalize});
    const picture = box.querySelector(".still[aria-label]");
    if (picture) { // which is not shown any more
      box.setAttribute("role", "img");
      box.setAttribute("aria-label", picture.getAttribute("aria-label"));
    }
    box.classList.add("is-live");
    if (spec.usermeta?.zoom) offerZoom(box, spec);
  }

  const near = new IntersectionObserver((entries) => {
    for (const {target, isIntersecting} of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target).then(() => resized.observe(target), (error) => console.error(error));
    }
  }, {rootMargin: "300px"});

  const waiting = new Map();
  const resized = new ResizeObserver((entries) => {
    for (const {target} of entries) {
      clearTimeout(waiting.get(target));
      waiting.set(target, setTimeout(() => draw(target), 120));
    }
  });

  // ---- Zoom: the mouse does it in the chart; buttons do it for keys and fingers.
  function offerZoom(box, spec) {
    if (box.nextElementSibling?.classList.contains("zoom")) return;
    const {signal, scale: scaleName} = spec.usermeta.zoom;
    const bar = document.createElement("div");
    bar.className = "zoom";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Zoom along the horizontal axis");
    const to = (low, high) => {
      const {view} = boxes.get(box);
      const scale = view.scale(scaleName);
      const [from, until] = scale.range();
      const at = (part) => scale.invert(from + (until - from) * part);
      view.signal(signal, [at(low), at(high)]).runAsync();
    };
    const actions = [
      ["+", "zoom in", () => to(STEP / 2, 1 - STEP / 2)],
      ["\u2212", "zoom out", () => to(-STEP / 2, 1 + STEP / 2)],
      ["\u2190", "earlier", () => to(-STEP, 1 - STEP)],
      ["\u2192", "later", () => to(STEP, 1 + STEP)],
      ["reset", "show all again", () => boxes.get(box).view.signal(signal, null).runAsync()],
    ];
    for (const [text, label, act] of actions) bar.append(button(text, label, act));
    const hint = document.createElement("span");
    hint.textContent = "or: drag, Ctrl + wheel, double click";
    bar.append(hint);
    box.after(bar);
  }

  function button(text, label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }

  // ---- Legends: each name becomes a button that puts away what has its colour (report.css, .without-sN).
  function touchable(legend) {
    const shown = legend.closest("section");
    for (const entry of legend.querySelectorAll("li[data-slot]")) {
      const made = document.createElement("button");
      made.type = "button";
      made.append(...entry.childNodes);
      made.setAttribute("aria-pressed", "true");
      made.title = "show or hide";
      made.addEventListener("click", () => {
        const hidden = shown.classList.toggle(`without-s${entry.dataset.slot}`);
        made.setAttribute("aria-pressed", String(!hidden));
      });
      entry.append(made);
    }
  }

  // ---- Links into what is folded open it; what else is put away is shown by whoever did that, on "reveal".
  function pointedAt() {
    const name = location.hash.slice(1);
    try {
      return document.getElementById(decodeURIComponent(name));
    } catch {
      return document.getElementById(name); // a stray %
    }
  }

  function reveal() {
    const target = pointedAt();
    if (!target) return;
    const folded = target.closest("details");
    const wasShown = !folded && target.checkVisibility();
    target.dispatchEvent(new CustomEvent("reveal", {bubbles: true}));
    if (wasShown) return;
    if (folded) folded.open = true;
    target.scrollIntoView();
    target.focus({preventScroll: true});
  }
  addEventListener("hashchange", reveal);
  reveal();

  // ---- Print: what is folded is opened, and folded again; of what is long those that a reader opened.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open], .as-opened, .as-opened *)")];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
  });

  // ---- Tables: one that is wider than its box shows each row as a list of named values.
  function stack(box) {
    const table = box.querySelector("table");
    if (!table || box.clientWidth === 0 || box.clientWidth === Number(box.dataset.width)) return;
    box.dataset.width = box.clientWidth;
    box.classList.remove("stacked");
    box.classList.toggle("stacked", box.scrollWidth > box.clientWidth);
  }

  if (document.getElementById("verdict")) {
    const fit = new ResizeObserver((entries) => entries.forEach((entry) => stack(entry.target)));
    for (const box of document.querySelectorAll(".box")) {
      const names = [...box.querySelectorAll("thead th")].map((head) => head.textContent.trim());
      for (const row of box.querySelectorAll("tbody tr")) {
        let at = 0;
        for (const cell of row.cells) {
          if (cell.tagName === "TD") cell.dataset.label = names[at] ?? "";
          at += cell.colSpan;
        }
      }
      fit.observe(box);
    }
  }

  document.querySelectorAll(".legend").forEach(touchable);
  document.querySelectorAll("[data-chart]").forEach((box) => near.observe(box));
})();
