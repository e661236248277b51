// Plays the golden scenes on wasm32 with every algorithm:
//   node crates/wasm-test/run.mjs target/wasm32-unknown-unknown/release/jostle_wasm_test.wasm
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const wasm = instance.exports;
const bytes = (start, length) => new Uint8Array(wasm.memory.buffer, start, length);

function write(text) {
  const encoded = new TextEncoder().encode(text);
  bytes(wasm.text_buffer(encoded.length), encoded.length).set(encoded);
}

function algorithmName(algorithm) {
  const start = wasm.text_buffer(64);
  return new TextDecoder().decode(bytes(start, wasm.algorithm_name(algorithm)));
}

function hash(scene, algorithm, still) {
  write(scene);
  const count = wasm.play(algorithm, still);
  return createHash("sha256").update(bytes(wasm.pairs(), 8 * count)).digest("hex");
}

let compared = 0;
const golden = new URL("../../testdata/pair_hashes.txt", import.meta.url);
for (const line of readFileSync(golden, "utf8").split("\n")) {
  if (line === "" || line.startsWith("#")) continue;
  const [scene, plain, still] = line.split(" ");
  for (let algorithm = 0; algorithm < wasm.algorithms(); algorithm++) {
    for (const [declared, expected] of [plain, still].entries()) {
      const found = hash(scene, algorithm, declared);
      if (found !== expected) {
        console.error(`${algorithmName(algorithm)} on ${scene}: ${found}, not ${expected}`);
        process.exit(1);
      }
      compared += 1;
    }
  }
}
const rest = wasm.everything_else();
if (rest !== 21 || compared === 0) {
  console.error(`world and one-shot call: ${rest}, not 21; ${compared} hashes compared`);
  process.exit(1);
}
console.log(`${compared} pair hashes are the golden ones`);
