// Opens each page of the documentation's site at two widths, in light and in dark. COLIBRI_SITE names the folder; `.ci/site` builds it.

import { createReadStream, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { availableParallelism } from "node:os";
import { extname, join } from "node:path";
import { start } from "./browser.mjs";

const site = process.env.COLIBRI_SITE;
const shots = process.env.COLIBRI_SHOTS;
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const WIDTHS = [400, 1280];
const SCHEMES = ["light", "dark"];
/// What mdBook calls them.
const THEMES = { light: "light", dark: "navy" };
/// Pages whose pictures are kept, to be looked at.
const PICTURES = ["index.html", "tutorial/first-hour.html", "guide/views.html", "guide/install.html", "reference/tasks.html", "reference/commands.html", "explanation/promises.html", "design/store.html"];
const TYPES = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".png": "image/png",
  ".svg": "image/svg+xml", ".woff2": "font/woff2",
};

let passed = 0;
const failed = [];
const check = (what, found) => {
  if (found.length === 0) {
    passed += 1;
  } else {
    failed.push(what);
    console.log(`failed: ${what}\n  ${found.slice(0, 8).join("\n  ")}`);
  }
};

/// Serves the site on this machine.
function serve() {
  const server = createServer((request, response) => {
    const path = join(site, decodeURIComponent(new URL(request.url, "http://site").pathname));
    if (!path.startsWith(site) || !statSync(path, { throwIfNoEntry: false })?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "cache-control": "max-age=3600" });
    createReadStream(path).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const files = readdirSync(site, { recursive: true }).filter((file) => statSync(join(site, file)).isFile());
/// What mdBook writes beside the pages: the list for browsers without scripts, and what a web server shows instead of a page.
const pages = files.filter((file) => file.endsWith(".html") && !["toc.html", "404.html", "control.html"].includes(file)).sort();

/// Opens a page and hands it over with a list of what went wrong.
async function open(context, url) {
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("response", (response) => { if (response.status() >= 400) wrong.push(`${response.status()}: ${response.url()}`); });
  page.on("request", (request) => { if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) wrong.push(`leaves the site: ${request.url()}`); });
  await page.goto(url, { waitUntil: "load" });
  return { page, wrong };
}

/// Returns what makes the page wider than the window. Code and tables may be wider, in boxes that scroll.
const overflow = (page) => page.evaluate(() => {
  const width = document.documentElement.clientWidth;
  const found = [];
  if (document.documentElement.scrollWidth > width) found.push(`overflow: ${document.documentElement.scrollWidth} of ${width} px`);
  const scrolls = (element) => ["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX);
  for (const element of document.querySelectorAll("main *")) {
    const { right, width: own } = element.getBoundingClientRect();
    if (own === 0 || right <= width + 1) continue;
    let above = element;
    while (above && above.tagName !== "MAIN" && !scrolls(above)) above = above.parentElement;
    if (above?.tagName === "MAIN") found.push(`sticks out: ${element.outerHTML.slice(0, 120)}`);
  }
  return found;
});

/// What axe is not asked: browsers let the keyboard scroll a box by themselves, and a table may have an empty corner.
const UNASKED = ["scrollable-region-focusable", "empty-table-header"];

/// Returns what axe finds in these parts of a page: contrast, the order of headings, names of links and pictures. The bar above the text is
/// mdBook's own. `only` names the rules to ask, where not all are needed.
async function accessibility(page, parts, only) {
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate(({ unasked, parts, only }) => {
    const rules = Object.fromEntries(unasked.map((rule) => [rule, { enabled: false }]));
    const include = parts.filter((part) => document.querySelector(part));
    return window.axe.run({ include }, { resultTypes: ["violations"], ...(only ? { runOnly: only } : { rules }) });
  }, { unasked: UNASKED, parts, only });
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, any }) => `${id}: ${help}: ${html.slice(0, 100)} ${any[0]?.message ?? ""}`));
}

/// Opens a page at a width, and looks at it in each scheme.
async function look(name, width) {
  const { page, wrong } = await open(contexts.get(width), origin + name);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const found = [];
    // A theme's sheets are fetched when it is first shown.
    await page.waitForFunction((theme) => document.documentElement.classList.contains(theme)
      && [...document.querySelectorAll("link[rel=stylesheet]")].every((link) => link.disabled || link.sheet), THEMES[colorScheme], { timeout: 20000 })
      .catch(() => found.push(`the theme is not ${THEMES[colorScheme]}`));
    found.push(...wrong.splice(0), ...await overflow(page));
    if (PICTURES.includes(name)) await page.screenshot({ path: join(shots, `site-${name.replaceAll("/", "-")}-${width}-${colorScheme}.png`) });
    if (width === 1280) {
      if (colorScheme === "light") known.set(name, await links(page));
      // The list of pages is the same on all of them, and in dark only the colours are others.
      found.push(...await accessibility(page, name === pages[0] ? ["main", "nav"] : ["main"], colorScheme === "light" ? undefined : ["color-contrast"]));
    }
    check(`${name}, ${width} px, ${colorScheme}`, found);
  }
  await page.close();
}

/// Returns the targets of a page's links, and what can be linked to.
const links = (page) => page.evaluate(() => ({
  links: [...document.querySelectorAll("a[href]")].map((link) => [link.href, Boolean(link.closest("main"))]),
  ids: [...document.querySelectorAll("[id]")].map(({ id }) => id),
}));

const server = await serve();
const origin = `http://127.0.0.1:${server.address().port}/`;
const browser = await start();
const contexts = new Map();
const known = new Map();
try {
  for (const width of WIDTHS) contexts.set(width, await browser.newContext({ viewport: { width, height: 900 }, colorScheme: SCHEMES[0] }));
  const left = pages.flatMap((name) => WIDTHS.map((width) => [name, width]));
  // As many pages at once as the machine has processors: axe keeps one busy.
  await Promise.all(Array.from({ length: availableParallelism() }, async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      await look(...next);
    }
  }));

  for (const [name, { links: targets }] of known) {
    const broken = targets.filter(([target]) => target.startsWith(origin)).flatMap(([target]) => {
      const { pathname, hash } = new URL(target);
      const path = pathname.slice(1) || "index.html";
      if (!files.includes(path)) return [`leads nowhere: ${path}`];
      const anchor = decodeURIComponent(hash.slice(1));
      return anchor && known.has(path) && !known.get(path).ids.includes(anchor) ? [`has no such place: ${path}#${anchor}`] : [];
    });
    check(`${name}: every link leads somewhere`, [...new Set(broken)]);
  }
  const first = new Set(known.get("index.html")?.links.map(([target]) => new URL(target).pathname.slice(1)));
  check("the first page leads to every page", pages.filter((name) => name !== "index.html" && !first.has(name)));

  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const { page, wrong } = await open(context, `${origin}index.html?search=merkle_finalize`);
  await page.waitForSelector("#mdbook-searchresults li", { timeout: 20000 }).catch(() => wrong.push("the search finds nothing"));
  await page.screenshot({ path: join(shots, "site-search.png") });
  check("the search finds a tool", wrong);

  // A page with every fault: the checks above can fail.
  writeFileSync(join(site, "control.html"), `<!doctype html><main><div style="width: 3000px">wide</div><img src="missing.png"><a href="gone.html">x</a></main><script>console.log("ran")</script>`);
  const control = await open(context, `${origin}control.html`);
  const said = [...control.wrong, ...await overflow(control.page), ...await accessibility(control.page, ["main"])].join("\n");
  check("the control is found out", ["console: ran", "404: ", "overflow: ", "sticks out: ", "image-alt: "].filter((part) => !said.includes(part)));
} finally {
  await browser.close();
  server.close();
}
console.log(`${passed} passed, ${failed.length} failed, ${pages.length} pages; the screenshots are in ${shots}`);
process.exitCode = failed.length === 0 ? 0 : 1;
