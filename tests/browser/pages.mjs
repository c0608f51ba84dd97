// Opens each page at two widths, in light and in dark, and prints it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faults, open, start } from "./browser.mjs";
import { Desk } from "./desk.mjs";
import { hostile, week } from "./stories.mjs";

const shots = process.env.COLIBRI_SHOTS;
const WIDTHS = [400, 1280];
const SCHEMES = ["light", "dark"];
/// A page of paper, A4 at 96 pixels an inch within margins of 1 cm.
const PAPER = 718;

let passed = 0;
const failed = [];
const check = (what, found) => {
  if (found.length === 0) {
    passed += 1;
  } else {
    failed.push(what);
    console.log(`failed: ${what}\n  ${found.join("\n  ")}`);
  }
};

/// One letter of a decision is changed in the file itself.
function forge(desk) {
  const bytes = readFileSync(desk.database);
  const at = bytes.indexOf("Two steps, because");
  if (at < 0) throw new Error("the decision is not in the file");
  bytes.write("Ten", at);
  writeFileSync(desk.database, bytes);
}

const nothing = async (desk) => void (await (await desk.agent("Claude Code", "alice")).call("server_ping", {}));

/// The databases, and what the overview of each begins with.
const STORIES = {
  empty: { tell: nothing, code: 0, verdict: "Sound." },
  week: { tell: week, code: 0, verdict: "Sound.", session: "release-41" },
  hostile: { tell: (desk) => hostile(desk, 300), code: 0, verdict: "Sound.", session: "0 <script>alert(document.domain)</script>" },
  tampered: { tell: week, tamper: forge, code: 1, verdict: "Not sound:", session: "release-42" },
};

/// The verdict comes before all numbers, and says what it must.
const verdict = (page, expected) => page.evaluate((expected) => {
  const box = document.querySelector(".verdict");
  const said = box?.innerText.trim() ?? "";
  const found = said.startsWith(expected) ? [] : [`the verdict is ${said.slice(0, 80)}`];
  const first = document.querySelector(".figures, section");
  if (!box || !first || box.getBoundingClientRect().bottom > first.getBoundingClientRect().top) found.push("the verdict is not first");
  return found;
}, expected);

async function look(browser, name, file, expected) {
  for (const width of WIDTHS) {
    for (const scheme of SCHEMES) {
      const what = `${name}, ${width} px, ${scheme}`;
      const { page, did, close } = await open(browser, file, width, scheme);
      check(`${what}: is inert and fits`, [...(await faults(page)), ...did]);
      if (expected) check(`${what}: says its verdict first`, await verdict(page, expected));
      await page.screenshot({ path: join(shots, `${name}-${width}-${scheme}.png`), fullPage: true, clip: await top(page, width) });
      await close();
    }
  }
  const { page, did, close } = await open(browser, file, PAPER, "dark");
  await page.emulateMedia({ media: "print" });
  check(`${name}, printed: is inert and fits`, [...(await faults(page)), ...did]);
  const ink = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check(`${name}, printed: is on white paper`, ink === "rgb(255, 255, 255)" ? [] : [`the paper is ${ink}`]);
  const pdf = await page.pdf({ path: join(shots, `${name}.pdf`), format: "A4", margin: { top: "1cm", right: "1cm", bottom: "1cm", left: "1cm" } });
  check(`${name}, printed: is a document`, pdf.subarray(0, 5).toString() === "%PDF-" ? [] : ["it is none"]);
  await close();
}

/// A picture has at most so many pixels from top to bottom.
const top = async (page, width) => {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  return { x: 0, y: 0, width, height: Math.min(height, 4000) };
};

/// A page with every fault: the checks above can fail.
async function control(browser, folder) {
  const file = join(folder, "control.html");
  writeFileSync(file, `<!doctype html><body><div style="width: 3000px">wide</div><img src="missing.png" onload="0"><script>console.log("ran")</script>`);
  const { page, did, close } = await open(browser, file, 400, "light");
  const said = [...(await faults(page)), ...did].join("\n");
  const missed = ["overflow: ", "sticks out: ", "an element: <img", "an element: <script", "an attribute: onload", "console: ran", "request: "]
    .filter((part) => !said.includes(part));
  check("the control is found out", missed.map((part) => `nothing said ${part}`));
  await close();
}

const browser = await start();
try {
  for (const [name, { tell, tamper, code, verdict, session }] of Object.entries(STORIES)) {
    const desk = new Desk();
    try {
      await tell(desk);
      await desk.close();
      tamper?.(desk);
      const pages = { overview: ["overview"], ...(session ? { report: ["report", session] } : {}) };
      for (const [kind, words] of Object.entries(pages)) {
        const file = join(desk.folder, `${kind}.html`);
        const done = await desk.command(...words, "--html", file);
        check(`${name}: colibri ${kind} ends with ${code}`, done.code === code ? [] : [`${done.code}: ${done.said}`]);
        await look(browser, `${name}-${kind}`, file, kind === "overview" ? verdict : undefined);
      }
      if (name === "empty") await control(browser, desk.folder);
    } finally {
      await desk.remove();
    }
  }
} finally {
  await browser.close();
}
console.log(`${passed} passed, ${failed.length} failed; the screenshots are in ${shots}`);
process.exitCode = failed.length === 0 ? 0 : 1;
