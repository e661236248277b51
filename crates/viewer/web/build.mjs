// Bundles the page into a folder: `node build.mjs dist`. The same sources give the same bytes.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const out = process.argv[2] ?? "dist";
mkdirSync(out, { recursive: true });
await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  outfile: `${out}/app.js`,
});
for (const name of ["index.html", "app.css"]) copyFileSync(`src/${name}`, `${out}/${name}`);
const licence = readFileSync("node_modules/three/LICENSE", "utf8");
writeFileSync(`${out}/LICENSES.txt`, `three.js, bundled in app.js:\n\n${licence}`);
