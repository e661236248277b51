// Starts the command and a browser, and reads what the page shows.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../..");
const jostle = process.env.JOSTLE ?? path.join(root, "target/debug/jostle");
export const folder = mkdtempSync(path.join(tmpdir(), "jostle-view-"));

// Pictures go to target; with JOSTLE_BLESS=1 they are those of the documentation.
const pictures = path.join(
  root,
  process.env.JOSTLE_BLESS ? "docs/viewer" : "target/viewer-pictures",
);
mkdirSync(pictures, { recursive: true });

export function run(...args) {
  return execFileSync(jostle, args, { cwd: folder, encoding: "utf8" });
}

export function json(...args) {
  return run(...args)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

// A running viewer: its address, and a way to end it.
export function view(...args) {
  const child = spawn(jostle, ["view", "--no-open", ...args], { cwd: folder });
  let output = "";
  const address = new Promise((done, failed) => {
    child.stdout.on("data", (data) => {
      output += data;
      const found = /http:\/\/\S+/.exec(output);
      if (found) done(found[0]);
    });
    child.stderr.on("data", (data) => (output += data));
    child.on("exit", () => failed(new Error(`jostle view ended: ${output}`)));
  });
  const ended = new Promise((done) => child.on("exit", done));
  return { address, stop: () => (child.kill("SIGINT"), ended) };
}

let browser;
export async function launch() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=gl-egl", "--ignore-gpu-blocklist"],
  });
  return browser;
}
export async function close() {
  await browser?.close();
}

const PATIENCE = { timeout: 120_000 };

// A page that shows a viewer; whatever goes wrong in it is collected.
export async function open(address, options = {}) {
  const page = await (
    await launch()
  ).newPage({ viewport: { width: 1200, height: 760 }, colorScheme: "light", ...options });
  page.setDefaultTimeout(120_000);
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  await page.goto(address);
  await page.waitForFunction(
    () => document.documentElement.dataset.frame !== undefined,
    null,
    PATIENCE,
  );
  return page;
}

// Waits until a frame is shown and drawn.
export async function frame(page, number) {
  await page.waitForFunction(
    (wanted) => document.documentElement.dataset.frame === String(wanted),
    number,
    PATIENCE,
  );
}

export async function redrawn(page, act) {
  const before = await page.evaluate(() => Number(document.documentElement.dataset.drawn));
  await act();
  await page.waitForFunction(
    (one) => Number(document.documentElement.dataset.drawn) > one,
    before,
    PATIENCE,
  );
}

// The facts of the panel, by name.
export async function facts(page) {
  return page.evaluate(() => {
    const terms = [...document.querySelectorAll("#facts dt")];
    return Object.fromEntries(
      terms.map((term) => [term.textContent, term.nextElementSibling.textContent]),
    );
  });
}
export const number = (text) => Number(text.replace(/[^0-9.]/g, ""));

export async function pairCount(page) {
  return number((await facts(page)).pairs);
}

// Number of pixels of the canvas by the colour of a state.
export async function colours(page) {
  return page.evaluate(() => {
    const stage = document.getElementById("stage");
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [stage.width, stage.height];
    const context = copy.getContext("2d");
    context.drawImage(stage, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const count = { alone: 0, overlapping: 0, began: 0, different: new Set() };
    for (let k = 0; k < data.length; k += 4) {
      const [r, g, b] = [data[k], data[k + 1], data[k + 2]];
      count.different.add((r << 16) | (g << 8) | b);
      if (Math.max(r, g, b) - Math.min(r, g, b) < 50) continue;
      if (b > r && b >= g && g > r) count.alone += 1;
      else if (r > g && g > b) count.overlapping += 1;
      else if (r > b && b > g) count.began += 1;
    }
    return { ...count, different: count.different.size };
  });
}

export async function picture(page, name) {
  await page.screenshot({ path: path.join(pictures, `${name}.png`) });
}

// An .npy file of frames of boxes.
export function writeBoxes(name, frames) {
  const shape = `(${frames.length}, ${frames[0].length}, 6)`;
  let head = `{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }`;
  head = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + "\n";
  const length = Buffer.from([head.length & 255, head.length >> 8]);
  const data = Buffer.from(new Float32Array(frames.flat(2)).buffer);
  writeFileSync(
    path.join(folder, name),
    Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), length, Buffer.from(head), data]),
  );
}
