"use strict";
(() => {
  const words = document.documentElement.dataset;

  const units = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, ms: 1e-3, min: 60, h: 3600 };

  // The number a cell starts with, for "403.26", "0.11x", "+7.3 %", "18.1 GiB" and "2 min 40 s"; what is none sorts last.
  const number = (text) => {
    const part = /^[<>~+]?\s*(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s*(KiB|MiB|GiB|TiB|ms|min|h)\b)?/i;
    let rest = text.trim().replace(/^(wall|total)\s*>/, ""), sum = NaN;
    for (let found; (found = part.exec(rest.trim())); rest = rest.trim().slice(found[0].length)) {
      const value = Number(found[1]) * (units[found[2]] ?? 1);
      sum = Number.isNaN(sum) ? value : sum + value;
      if (found[2] !== "min" && found[2] !== "h") break;
    }
    return sum;
  };

  const sortRows = (table, column, ascending) => {
    const rows = [...table.tBodies[0].rows].map((row, at) => ({ row, at, text: row.cells[column].textContent }));
    const numeric = rows.some((r) => !Number.isNaN(number(r.text)));
    const sign = ascending ? 1 : -1;
    rows.sort((a, b) => {
      if (!numeric) return sign * a.text.localeCompare(b.text) || a.at - b.at;
      const x = number(a.text), y = number(b.text);
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a.at - b.at;
      return sign * (x - y) || a.at - b.at;
    });
    table.tBodies[0].append(...rows.map((r) => r.row));
  };

  const makeSortable = (table) => {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const ascending = cell.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        sortRows(table, column, ascending);
      });
    });
  };

  const makeFilterable = (table, box) => {
    const line = document.createElement("div");
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    line.className = "filter";
    input.type = "search";
    label.append(words.filter + " ", input);
    line.append(label, count);
    box.before(line);
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      count.value = shown + " / " + table.tBodies[0].rows.length;
    });
  };

  for (const box of document.querySelectorAll(".scroll")) {
    const table = box.querySelector("table");
    const rows = table.tBodies[0] ? table.tBodies[0].rows.length : 0;
    if (rows > 1) makeSortable(table);
    if (rows > 3) makeFilterable(table, box);
  }
})();
