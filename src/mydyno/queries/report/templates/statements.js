/* Sorts and searches the table of all statements, and shows as many of its rows as are asked for.
   Without it the whole table stands there. */
"use strict";
(() => {
  const table = document.querySelector("table.statements");
  if (!table) return;
  const READ = (id) => JSON.parse(document.getElementById(id).textContent);
  const settings = READ("statements-settings");
  const {atFirst} = settings;
  const values = READ("statements-values");
  const [first, more] = table.tBodies;
  const all = [...first.rows, ...more.rows].map((row, place) => ({row, place, text: searched(row)}));
  let matching = all;
  let order = {key: settings.order, down: true};

  /** What a search looks at: the row, and the statement's own section where it has one. */
  function searched(row) {
    const link = row.querySelector(".statement a");
    const section = link && document.getElementById(link.getAttribute("href").slice(1));
    return `${row.textContent} ${section?.querySelector(".sql").textContent ?? ""}`.toLowerCase();
  }

  function element(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  // ---- Rows: those that match, in their order; the first of them always, the others when asked for.
  const status = element("output", {});
  const whole = element("button", {type: "button"});
  whole.addEventListener("click", () => {
    table.classList.toggle("whole");
    show();
  });
  const bar = element("div", {className: "more-rows"}, whole);

  function show() {
    const isWhole = table.classList.contains("whole");
    first.replaceChildren(...matching.slice(0, atFirst).map(({row}) => row));
    more.replaceChildren(...matching.slice(atFirst).map(({row}) => row));
    const shown = isWhole ? matching.length : Math.min(atFirst, matching.length);
    const of = matching.length === all.length ? "" : `, ${matching.length} match`;
    status.textContent = `${shown} of ${all.length} shown${of}`;
    bar.hidden = matching.length <= atFirst;
    whole.textContent = isWhole ? `Show the first ${atFirst} only` : `Show all ${matching.length}`;
  }

  // ---- Sorting: what is missing is always last.
  function sorted() {
    const column = values[order.key];
    const sign = order.down ? -1 : 1;
    matching.sort(({place: one}, {place: other}) => {
      const [a, b] = [column[one], column[other]];
      if (a === null || b === null) return (a === null) - (b === null) || one - other;
      return sign * (a - b) || one - other;
    });
  }

  function sortBy(key) {
    order = {key, down: order.key === key ? !order.down : true};
    for (const head of table.tHead.rows[0].cells) {
      if (head.dataset.key === key) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    sorted();
    show();
  }

  for (const head of table.tHead.querySelectorAll("th[data-key]")) {
    const made = element("button", {type: "button", title: "sort"}, ...head.childNodes);
    made.addEventListener("click", () => sortBy(head.dataset.key));
    head.append(made);
  }
  table.tHead.querySelector(`th[data-key="${settings.order}"]`)?.setAttribute("aria-sort", "descending");

  // ---- Searching: every word must be there.
  const input = element("input", {type: "search", placeholder: "words, a user, an id"});
  const label = element("label", {}, "Find ", input);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    matching = all.filter(({text}) => words.every((word) => text.includes(word)));
    sorted();
    show();
  });
  const box = table.closest(".box");
  box.before(element("div", {className: "find"}, label, status));
  box.after(bar);
  show();

  // ---- A link to a row that is not shown shows it.
  more.addEventListener("reveal", () => {
    table.classList.add("whole");
    show();
  });
})();
