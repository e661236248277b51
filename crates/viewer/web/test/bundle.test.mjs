// The committed bundle is what the sources give, and the sources type-check.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const web = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

test("the sources type-check", () => {
  execFileSync("npx", ["tsc", "--noEmit"], { cwd: web, stdio: "inherit" });
});

test("dist is what the sources give", () => {
  const out = mkdtempSync(path.join(tmpdir(), "jostle-dist-"));
  execFileSync("node", ["build.mjs", out], { cwd: web });
  const names = readdirSync(out).sort();
  assert.deepEqual(readdirSync(path.join(web, "dist")).sort(), names);
  for (const name of names) {
    const [built, kept] = [out, path.join(web, "dist")].map((one) =>
      readFileSync(path.join(one, name)),
    );
    assert.ok(built.equals(kept), `${name} differs: run npm run build and commit dist`);
  }
});
