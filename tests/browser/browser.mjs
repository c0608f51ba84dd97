// Chromium, and what it says of a page.

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

/// Starts the browser. Nothing of it reaches the network.
export const start = () => chromium.launch({
  executablePath: process.env.COLIBRI_CHROMIUM,
  args: [
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});

/// Opens a file and hands over the page with a list of what it did beyond being shown: messages, errors, requests.
export async function open(browser, file, width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline: true });
  const page = await context.newPage();
  const did = [];
  page.on("console", (message) => did.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => did.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { did.push(`dialog: ${dialog.message()}`); return dialog.dismiss(); });
  const url = pathToFileURL(file).href;
  page.on("request", (request) => { if (request.url() !== url) did.push(`request: ${request.url()}`); });
  await page.goto(url, { waitUntil: "load" });
  return { page, did, close: () => context.close() };
}

/// Returns what sticks out of the page to the right, and what the page must not have.
export const faults = (page) => page.evaluate(() => {
  const root = document.documentElement;
  const found = [];
  if (root.scrollWidth > root.clientWidth) found.push(`overflow: ${root.scrollWidth} of ${root.clientWidth} px`);
  for (const element of document.querySelectorAll("body *")) {
    const { right, left, width } = element.getBoundingClientRect();
    const inside = element.closest(".wide, svg");
    if (!inside && width > 0 && (right > root.clientWidth + 1 || left < -1)) found.push(`sticks out: ${element.outerHTML.slice(0, 120)}`);
    if (!inside && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline") {
      found.push(`its text sticks out: ${element.outerHTML.slice(0, 120)}`);
    }
  }
  const strange = "script, iframe, object, embed, img, link, base, form, input, audio, video, foreignObject, a[href]:not([href^='#'])";
  for (const element of document.querySelectorAll(strange)) found.push(`an element: ${element.outerHTML.slice(0, 120)}`);
  for (const element of document.querySelectorAll("*")) {
    for (const { name } of element.attributes) if (name.startsWith("on")) found.push(`an attribute: ${name}`);
  }
  return found.slice(0, 8);
});
