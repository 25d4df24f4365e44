// What a report's page must do in a real browser. Prints TAP.
//
//   node page.mjs CHROMIUM REPORT.html HOSTILE.html UNITS.html INDEX.html BOARD.html TICKET.html
//
// REPORT is of several variants and contexts with a summary in a second language; HOSTILE is of a run whose
// every text tries to write markup that sets window.pwned or opens a dialog. UNITS has a table of memory in MiB and GiB.
// INDEX lists nightly runs, one of which was blocked. BOARD has many cells, one of which is regressed and one inconclusive. TICKET is
// the report of a ticket over two dates.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [executablePath, report, hostile, units, index, board, ticket] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });

let count = 0;
let failed = 0;
const test = async (what, body) => {
  const name = `a report's page: ${what}`;
  if (!name.includes(process.env.TESTS_ONLY ?? "")) return;
  count += 1;
  try {
    await body();
    console.log(`ok ${count} - ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${count} - ${name}`);
    console.log(String(error.stack).split("\n").slice(0, 12).map((line) => `#   ${line}`).join("\n"));
  }
};

// The file in a page, with everything that should not happen on it as a list. The page is loaded anew each time, but opened only
// once for each set of options that a page keeps: opening one takes Chromium a second of a core.
const pages = new Map();
const open = async (path, { viewport = { width: 1200, height: 900 }, colorScheme = "light", ...kept } = {}) => {
  const key = JSON.stringify(kept);
  if (!pages.has(key)) pages.set(key, await (await browser.newContext(kept)).newPage());
  const page = pages.get(key).removeAllListeners();
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, media: null });
  const trouble = [];
  page.on("console", (message) => message.type() === "error" && trouble.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => (trouble.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) trouble.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(path).href);
  return { page, trouble };
};

const tableAfter = (page, heading) => page.locator(`h2:text-is("${heading}") ~ .scroll`).first();
const column = (table, index) => table.locator(`tbody tr:visible td:nth-child(${index})`).allInnerTexts();
const numbers = (texts) => texts.map((text) => Number.parseFloat(text));

// Violations that keep people out, as "rule: element".
const violations = async (page) => {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 80)).join(" | ")}`);
};

await test("it opens without an error and without the network", async () => {
  const { page, trouble } = await open(report);
  await page.waitForTimeout(200);
  assert.deepEqual(trouble, []);
});

await test("every picture is drawn and has a description", async () => {
  const { page } = await open(report);
  const images = await page.locator("figure img").evaluateAll((all) => all.map((i) => [i.naturalWidth, i.alt]));
  assert.ok(images.length >= 2, `${images.length} pictures`);
  for (const [width, alt] of images) assert.ok(width > 0 && alt.length > 10, alt);
});

await test("a column sorts up and down, by mouse and by keyboard, as numbers", async () => {
  const { page } = await open(report);
  const table = tableAfter(page, "Consolidated comparison");
  const button = table.getByRole("button", { name: "Prefill (s)" });
  const before = numbers(await column(table, 4));
  await button.click();
  assert.deepEqual(numbers(await column(table, 4)), [...before].sort((a, b) => a - b));
  assert.equal(await table.locator("th").nth(3).getAttribute("aria-sort"), "ascending");
  await button.focus();
  await page.keyboard.press("Enter");
  assert.deepEqual(numbers(await column(table, 4)), [...before].sort((a, b) => b - a));
  assert.equal(await table.locator("th").nth(3).getAttribute("aria-sort"), "descending");
  await table.getByRole("button", { name: "Variant" }).click();
  const names = await column(table, 2);
  assert.deepEqual(names, [...names].sort());
});

await test("a column of several units sorts by value", async () => {
  const { page } = await open(units);
  const table = tableAfter(page, "Memory behaviour");
  const heads = await table.locator("th").allInnerTexts();
  const at = heads.findIndex((text) => text.startsWith("Peak VRAM")) + 1;
  const mebibytes = (texts) => texts.map((text) => Number.parseFloat(text) * (text.endsWith("GiB") ? 1024 : 1));
  await table.evaluate((box, index) => { // a small one among the large
    box.querySelector("tbody tr:last-child").cells[index].textContent = "480.0 MiB";
  }, at - 1);
  await table.getByRole("button", { name: "Peak VRAM" }).click();
  const seen = mebibytes(await column(table, at));
  assert.equal(seen[0], 480);
  assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
});

await test("a filter hides the rows that lack its words and says how many are left", async () => {
  const { page } = await open(report);
  const table = tableAfter(page, "Consolidated comparison");
  const filter = page.locator('h2:text-is("Consolidated comparison") ~ .filter').first();
  const all = await table.locator("tbody tr:visible").count();
  await filter.getByRole("searchbox").fill("v3 8192");
  assert.equal(await table.locator("tbody tr:visible").count(), 1);
  assert.equal(await filter.locator("output").innerText(), `1 / ${all}`);
  await filter.getByRole("searchbox").fill("nothing has this");
  assert.equal(await table.locator("tbody tr:visible").count(), 0);
  await filter.getByRole("searchbox").fill("");
  assert.equal(await table.locator("tbody tr:visible").count(), all);
});

await test("the verdicts come first and the raw data last", async () => {
  const { page } = await open(report);
  const heads = await page.locator("main > h2").allInnerTexts();
  assert.equal(heads.at(-1), "For the record");
  assert.ok(heads.indexOf("Comparison with an earlier run") < heads.indexOf("Next steps"), heads.join());
  assert.ok(heads.indexOf("Next steps") < heads.indexOf("Plots"), heads.join());
  assert.ok(heads.indexOf("Plots") < heads.indexOf("Performance summary"), heads.join());
});

await test("every picture has a caption", async () => {
  const { page } = await open(report);
  const captions = await page.locator("figure figcaption").allInnerTexts();
  assert.equal(captions.length, await page.locator("figure img").count());
  for (const caption of captions) assert.ok(caption.length > 20, caption);
  assert.equal(await page.locator("main > p > em:only-child").count(), 0);
});

for (const width of [420, 1400])
  await test(`the index: times in one line, summaries and links on screen at ${width} px`, async () => {
    const { page, trouble } = await open(index, { viewport: { width, height: 800 }, bypassCSP: true });
    assert.equal(await page.locator("tbody tr").count(), 2);
    for (const selector of [".when", ".headline", ".link", ".news", ".findings li", ".cell"])
      for (const box of await page.locator(selector).evaluateAll((all) => all.map((e) => e.getBoundingClientRect().toJSON())))
        assert.ok(box.left >= 0 && box.right <= width && box.width > 0, `${selector}: ${JSON.stringify(box)}`);
    const lines = await page.locator(".when").evaluateAll((all) => all.map((e) => {
      const range = document.createRange();
      range.selectNodeContents(e);
      return range.getClientRects().length;
    }));
    assert.deepEqual(lines, [1, 1]);
    for (const text of await page.locator(".when").allInnerTexts()) assert.match(text, /^\d{4}-\d\d-\d\d \d\d:\d\d$/);
    const colours = await page.locator("tbody .news").evaluateAll((all) => all.map((e) => getComputedStyle(e).color));
    assert.notEqual(colours[0], colours[1]);
    assert.deepEqual(trouble, []);
    assert.deepEqual(await violations(page), []);
  });

await test("the verdicts of a ticket's runs are on screen at 420 px", async () => {
  const { page } = await open(ticket, { viewport: { width: 420, height: 800 } });
  const verdict = tableAfter(page, "Runs").locator("tbody tr:last-child td:nth-child(2)");
  assert.match(await verdict.innerText(), /2 regressed/);
  const box = await verdict.boundingBox();
  assert.ok(box.x + box.width <= 420, JSON.stringify(box));
});

for (const width of [420, 1600])
  for (const colorScheme of ["light", "dark"])
    await test(`the dashboard fits ${width} px and has no serious obstacle (${colorScheme})`, async () => {
      const { page, trouble } = await open(board, { viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
      for (const box of await page.locator(".cell, .findings li").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().toJSON())))
        assert.ok(box.left >= 0 && box.right <= width && box.width > 100, JSON.stringify(box));
      assert.deepEqual(trouble, []);
      assert.deepEqual(await violations(page), []);
    });

await test("the dashboard: open findings first, and a graph of each cell with its changes", async () => {
  const { page } = await open(board, { javaScriptEnabled: false });
  assert.equal(await page.locator("main h2").first().innerText(), "Open findings");
  const finding = page.locator(".findings li");
  assert.equal(await finding.count(), 1);
  assert.match(await finding.innerText(), /regressed \+11\.0 % flash_attention_v1_b8h16 at 8192.*confirmed: code, since 2026-11-12/s);
  assert.match(await page.locator("#inconclusive + p").innerText(), /flash_attention_v2_b8h16 at 4096.*1 of 40 cells/s);
  const card = page.locator(await finding.locator("a").getAttribute("href"));
  assert.match(await card.locator("svg").getAttribute("aria-label"), /60 nights, .*changed by \+11\.0 %/);
  assert.equal(await card.locator("svg .change").count(), 1);
  assert.equal(await page.locator(".cell svg").count(), 41);
  const heights = await page.locator(".spark polyline").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().width));
  for (const width of heights.slice(0, 40)) assert.ok(width > 80, `${width} px`);
});

for (const path of [report, hostile]) {
  const name = path === report ? "the report" : "the hostile report";
  await test(`${name}: nothing overflows at 400 px`, async () => {
    const { page } = await open(path, { viewport: { width: 400, height: 800 } });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 400, `${width} px wide`);
  });
  for (const colorScheme of ["light", "dark"])
    await test(`${name}: no serious obstacle for assistive technology (${colorScheme})`, async () => {
      const { page } = await open(path, { colorScheme, bypassCSP: true });
      assert.deepEqual(await violations(page), []);
    });
}

await test("text and pictures differ between light and dark", async () => {
  const seen = [];
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await open(report, { colorScheme });
    seen.push([
      await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
      (await page.locator("figure img").first().screenshot()).toString("base64"),
    ]);
  }
  assert.notEqual(seen[0][0], seen[1][0]);
  assert.notEqual(seen[0][1], seen[1][1]);
});

await test("the keyboard reaches the skip link first, then tables that scroll", async () => {
  const { page } = await open(report);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), "#content");
  const region = tableAfter(page, "Consolidated comparison");
  await region.focus();
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "region");
});

await test("in print it has every table, no navigation and no filter", async () => {
  const { page } = await open(report);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("nav").isVisible(), false);
  assert.equal(await page.locator(".filter").first().isVisible(), false);
  assert.equal(await tableAfter(page, "Consolidated comparison").isVisible(), true);
  assert.ok((await page.pdf()).length > 1000);
});

await test("a summary in another language is marked with it", async () => {
  const { page } = await open(report);
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  assert.equal(await page.locator('section[lang="es"] h2').innerText(), "Resumen ejecutivo");
});

await test("without scripts it is whole", async () => {
  const { page } = await open(report, { javaScriptEnabled: false });
  assert.ok((await page.locator("table tbody tr").count()) > 10);
});

await test("hostile text is shown and does nothing", async () => {
  const { page, trouble } = await open(hostile);
  await page.waitForTimeout(500);
  assert.deepEqual(trouble, []);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator("script").count(), 1);
  assert.equal(await page.locator("main img:not(figure img), main a, main iframe, main svg, main b").count(), 0);
  assert.equal(await page.evaluate(() =>
    [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => /^on/i.test(a.name))).length), 0);
  assert.match(await page.locator("main").innerText(), /<script>window\.pwned=1<\/script>/);
});

await test("raw markup in it cannot run", async () => {
  const path = `${hostile}.raw.html`;
  const raw = '<img src=x onerror="window.pwned=2"><script>window.pwned=3</script><a href="javascript:window.pwned=4" id=j>x</a>';
  writeFileSync(path, readFileSync(hostile, "utf8").replace('<main id="content">', `<main id="content">${raw}`));
  const { page, trouble } = await open(path);
  await page.locator("#j").click();
  await page.waitForTimeout(500);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.ok(trouble.some((line) => /Content Security Policy/.test(line)), "the policy said nothing");
});

await browser.close();
console.log(`1..${count}`);
process.exitCode = failed ? 1 : 0;
