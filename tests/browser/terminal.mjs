// A program on a terminal, and its last screen as a page.

import { spawn } from "node:child_process";

/// The 16 colours of a dark terminal, as the program's colours mean them.
const COLORS = [
  "#161b22", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9",
  "#8b949e", "#ffa198", "#7ee787", "#f0c95c", "#a5d6ff", "#e2c5ff", "#b3f0f5", "#ffffff",
];

/// Runs a program on a terminal of that size, types the keys, and returns its screen before it ends: rows of cells.
export async function screen(program, words, { env, cwd, columns, rows, keys, end, wait = 1500 }) {
  const quoted = [program, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const line = `stty cols ${columns} rows ${rows}; exec ${quoted}`;
  const child = spawn("script", ["-qfec", line, "/dev/null"], { cwd, env: { ...env, TERM: "xterm-256color" }, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  let written = "";
  child.stdout.setEncoding("utf8").on("data", (part) => (written += part));
  const pause = () => new Promise((resolve) => setTimeout(resolve, wait));
  await pause();
  for (const key of keys) {
    child.stdin.write(key);
    await pause();
  }
  const cells = drawn(written, columns, rows);
  child.stdin.write(end);
  child.stdin.end();
  await ended;
  return cells;
}

/// Does what the written text says: moves, erasures and colours.
function drawn(text, columns, rows) {
  const blank = () => ({ text: " ", style: {} });
  const cells = Array.from({ length: rows }, () => Array.from({ length: columns }, blank));
  let [row, column, style] = [0, 0, {}];
  const token = /\u001b\[([0-9;?]*)([A-Za-z])|\u001b[()][A-Z0-9]|\u001b[=>78]|([\s\S])/gu;
  for (const [, numbers, command, character] of text.matchAll(token)) {
    const [first, second] = (numbers ?? "").split(";").map(Number);
    if (command === "H") [row, column] = [(first || 1) - 1, (second || 1) - 1];
    else if (command === "J") cells.forEach((line) => line.forEach((_, at) => (line[at] = blank())));
    else if (command === "m") style = styled(style, numbers);
    else if (character === "\n") row += 1;
    else if (character === "\r") column = 0;
    else if (character && character >= " " && row < rows && column < columns) cells[row][column++] = { text: character, style };
  }
  return cells;
}

function styled(style, numbers) {
  const codes = numbers.split(";").map(Number);
  let next = { ...style };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    if (code === 0) next = {};
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 7) next.reversed = true;
    else if (code === 27) next.reversed = false;
    else if (code === 39) delete next.ink;
    else if (code === 49) delete next.paper;
    else if ((code === 38 || code === 48) && codes[at + 1] === 5) {
      next[code === 38 ? "ink" : "paper"] = COLORS[codes[at + 2]];
      at += 2;
    } else if (code >= 30 && code < 38) next.ink = COLORS[code - 30];
    else if (code >= 90 && code < 98) next.ink = COLORS[code - 82];
    else if (code >= 40 && code < 48) next.paper = COLORS[code - 40];
  }
  return next;
}

/// Returns the screen as an HTML page.
export function page(cells) {
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const span = ({ text, style }) => {
    const [ink, paper] = [style.ink ?? "#e6edf3", style.paper ?? "#0d1117"];
    const [color, background] = style.reversed ? [paper, ink] : [ink, paper];
    const weight = style.bold ? "bold" : "normal";
    return `<span style="color:${color};background:${background};font-weight:${weight};opacity:${style.dim ? 0.65 : 1}">${escaped(text)}</span>`;
  };
  const lines = cells.map((line) => line.map(span).join("")).join("\n");
  return `<!doctype html><meta charset="utf-8"><style>body{margin:0;background:#0d1117}
    pre{display:inline-block;margin:0;padding:14px 18px;font:14px/1.3 "DejaVu Sans Mono",monospace}span{padding:1px 0 2px}</style><pre>${lines}</pre>`;
}
