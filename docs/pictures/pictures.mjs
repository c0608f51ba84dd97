// The pictures of the documentation. docs/pictures/make runs this script.

import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open, start } from "./browser.mjs";
import { Desk } from "./desk.mjs";
import { week } from "./stories.mjs";
import { page as terminal, screen } from "./terminal.mjs";

const folder = "docs/pictures";
/// No picture is larger: they are loaded with the first page that people see.
const MOST_BYTES = 150_000;

/// Each picture: its file, what makes the page, and how much of it is shown.
const PICTURES = [
  {
    file: "overview.png",
    make: async (desk) => {
      const page = join(desk.folder, "overview.html");
      const done = await desk.command("overview", "--db", "shop.db", "--html", page);
      if (done.code !== 0) throw new Error(done.said);
      return page;
    },
    width: 1280,
    height: 1290,
  },
  {
    file: "board.png",
    make: async (desk) => {
      const size = { columns: 126, rows: 26 };
      const on = { env: desk.environment({}), cwd: desk.folder, ...size, keys: [], end: "q" };
      const page = join(desk.folder, "board.html");
      writeFileSync(page, terminal(await screen(process.env.COLIBRI_BIN, ["board"], on)));
      return page;
    },
    element: "pre",
    width: 1280,
  },
];

const browser = await start();
const desk = new Desk("shop.db");
try {
  await week(desk);
  await desk.close();
  for (const { file, make, width, height, element } of PICTURES) {
    const { page, did, close } = await open(browser, await make(desk), width, "light");
    if (did.length > 0) throw new Error(did.join("\n"));
    const path = join(folder, file);
    if (element) await page.locator(element).screenshot({ path });
    else await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width, height } });
    await close();
    const { size } = statSync(path);
    if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes; it may have ${MOST_BYTES}`);
    console.log(`${path}: ${size} bytes`);
  }
} finally {
  await desk.remove();
  await browser.close();
}
