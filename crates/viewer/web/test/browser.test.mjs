// A real browser looks at the viewer: it clicks, types and reads pixels.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import test, { after } from "node:test";
import { pathToFileURL } from "node:url";
import * as it from "./support.mjs";

after(it.close);

// Runs a test on a viewer, ends both, and wants no error in the page.
async function looking(args, act, options) {
  const viewer = it.view(...args);
  try {
    const page = await it.open(await viewer.address, options);
    await act(page);
    assert.deepEqual(page.problems, []);
    await page.close();
  } finally {
    await viewer.stop();
  }
}

test("colours change when boxes meet", async () => {
  const cube = (x) => [x, 0, 0, x + 1, 1, 1];
  it.writeBoxes(
    "meet.npy",
    [0, 1, 2, 3].map((k) => [cube(k), cube(3.5)]),
  );
  await looking(["meet.npy", "--paused"], async (page) => {
    const apart = await it.colours(page);
    assert.ok(apart.alone > 1000, `blue pixels: ${apart.alone}`);
    assert.ok(apart.overlapping + apart.began < apart.alone / 50);
    await page.click("#seek", { position: { x: 2, y: 5 } });
    for (const step of [1, 2, 3]) {
      await page.click("#step");
      await it.frame(page, step);
    }
    const met = await it.colours(page);
    assert.ok(met.began > 1000 && met.alone < apart.alone / 50, JSON.stringify(met));
    await page.keyboard.press(",");
    await it.frame(page, 2);
    assert.equal(await it.pairCount(page), 0);
  });
});

test("steps and seeks agree with jostle pairs", async () => {
  it.run("scene", "uniform", "--n", "400", "--frames", "12", "-o", "world.npy");
  const frames = it.json("pairs", "world.npy", "--json");
  await looking(["world.npy", "--paused"], async (page) => {
    for (const step of [0, 1, 2, 3]) {
      if (step > 0) await page.click("#step");
      await it.frame(page, step);
      assert.equal(await it.pairCount(page), frames[step].pairs, `step ${step}`);
    }
    for (const step of [11, 5, 9, 0]) {
      await page.evaluate((to) => {
        const seek = document.getElementById("seek");
        seek.value = String(to);
        seek.dispatchEvent(new Event("change"));
      }, step);
      await it.frame(page, step);
      assert.equal(await it.pairCount(page), frames[step].pairs, `seek to ${step}`);
    }
  });
});

test("the inspector names the partners that the library finds", async () => {
  it.run("scene", "uniform", "--n", "500", "--frames", "1", "-o", "one.npy");
  it.run("pairs", "one.npy", "-o", "one.csv");
  const pairs = readFileSync(path.join(it.folder, "one.csv"), "utf8").trim().split("\n").slice(1);
  const couples = pairs.map((line) => line.split(",").map(Number).slice(-2));
  await looking(["one.npy", "--paused"], async (page) => {
    for (const slot of [couples[0][0], couples[0][1], couples.at(-1)[1]]) {
      await page.fill("#slot", String(slot));
      await page.press("#slot", "Enter");
      await page.waitForFunction(
        (one) => document.querySelector("#inspector strong")?.textContent === `Box ${one}`,
        slot,
      );
      const named = await page.$$eval("#partners button", (all) =>
        all.map((one) => Number(one.dataset.slot)),
      );
      const expected = couples
        .filter((pair) => pair.includes(slot))
        .map(([a, b]) => (a === slot ? b : a));
      assert.deepEqual(
        named,
        expected.sort((a, b) => a - b),
        `box ${slot}`,
      );
      assert.match(await page.textContent("#apart"), /apart on [xyz] by/);
    }
    // A click on the picture selects as well.
    await page.fill("#slot", "");
    await page.press("#slot", "Enter");
    const { width, height } = await page.locator("#stage").boundingBox();
    for (let k = 0; k < 12 && !(await page.inputValue("#slot")); k++) {
      await page.mouse.click(width * (0.4 + 0.02 * k), height * 0.5);
      await page.waitForTimeout(50);
    }
    assert.notEqual(await page.inputValue("#slot"), "");
    await it.redrawn(page, () => page.click("#follow"));
    assert.equal(await page.getAttribute("#follow", "aria-pressed"), "true");
    await it.picture(page, "inspector");
  });
});

test("a switch of algorithm keeps the pairs, and two run side by side", async () => {
  await looking(["--scene", "uniform", "--n", "1500", "--paused"], async (page) => {
    const before = await it.pairCount(page);
    assert.ok(before > 10);
    await page.selectOption("#compare", "sap");
    for (const name of ["bvh", "hash-grid", "sort-sweep", "grid-sweep"]) {
      await page.selectOption("#algorithm", name);
      await page.waitForFunction((one) => document.getElementById("algorithm").value === one, name);
      assert.equal(await it.pairCount(page), before, name);
    }
    await page.click("#play");
    await page.waitForFunction(() => Number(document.documentElement.dataset.frame) > 40);
    await page.click("#play");
    assert.match((await it.facts(page)).sap, /the same pairs/);
    const inked = await page.$$eval("#charts canvas", (all) =>
      all.map(
        (one) =>
          one
            .getContext("2d")
            .getImageData(0, 0, one.width, one.height)
            .data.filter((v, k) => k % 4 === 3 && v > 0).length,
      ),
    );
    assert.equal(inked.length, 4);
    assert.ok(
      inked.every((count) => count > 200),
      `charts are drawn: ${inked}`,
    );
    await it.picture(page, "side-by-side");
  });
});

test("what the algorithm sees, pairs as lines, and the dark look", async () => {
  await looking(
    ["--scene", "city", "--n", "1500", "--algorithm", "bvh", "--paused"],
    async (page) => {
      const plain = await it.colours(page);
      await page.focus("#stage");
      await it.redrawn(page, () => page.keyboard.press("k"));
      await it.redrawn(page, () => page.keyboard.press("p"));
      await page.keyboard.press("x");
      await page.waitForFunction(() => Number(document.getElementById("level").max) > 1);
      const drawn = await it.colours(page);
      assert.ok(drawn.different > plain.different, "lines bring new colours");
      await it.picture(page, "tree");
      await page.selectOption("#algorithm", "hash-grid");
      await page.waitForFunction(() => document.getElementById("algorithm").value === "hash-grid");
      await page.focus("#stage");
      await it.redrawn(page, () => page.keyboard.press("d"));
      assert.equal(await page.getAttribute("html", "data-theme"), "dark");
      await it.picture(page, "grid-dark");
    },
  );
});

test("everything works by keyboard", async () => {
  await looking(["--scene", "uniform", "--n", "300", "--paused"], async (page) => {
    await page.keyboard.press("Tab");
    for (let k = 0; k < 3; k++) await page.keyboard.press(".");
    await it.frame(page, 3);
    await page.keyboard.press("Home");
    await it.frame(page, 0);
    await page.keyboard.press("?");
    assert.equal(await page.locator("#help").isVisible(), true);
    assert.ok((await page.locator("#keys dt").count()) > 20);
    await it.picture(page, "keys");
    await page.keyboard.press("Escape");
    await page.keyboard.press("t");
    await page.waitForFunction(() => document.querySelector("#facts dd").textContent === "301");
    await page.waitForFunction(() => document.getElementById("slot").value === "300");
    await page.keyboard.press("Delete");
    await page.waitForFunction(() => document.querySelector("#facts dd").textContent === "300");
    await page.keyboard.press("r");
    await page.waitForFunction(() =>
      /The ray meets \d+ boxes/.test(document.getElementById("answer").textContent),
    );
    await page.keyboard.press("n");
    await page.waitForFunction(() =>
      /Nearest: \d+ /.test(document.getElementById("answer").textContent),
    );
    await page.keyboard.press("Enter");
    await page.keyboard.press(" ");
    await page.waitForFunction(() => Number(document.documentElement.dataset.frame) > 5);
    await page.keyboard.press(" ");
    await page.waitForFunction(() => document.getElementById("play").textContent === "Play");
  });
});

test("worlds show shapes and contacts", async () => {
  await looking(
    ["--world", "uniform", "--n", "250", "--set", "density=0.3", "--paused"],
    async (page) => {
      for (const step of [1, 2, 3]) {
        await page.click("#step");
        await it.frame(page, step);
      }
      assert.ok(it.number((await it.facts(page)).touching) > 0);
      const seen = await it.colours(page);
      assert.ok(seen.overlapping + seen.began > 100, JSON.stringify(seen));
      await it.picture(page, "world");
    },
  );
});

test("20 000 boxes are drawn, and a scene can be changed while it runs", async () => {
  await looking(["--scene", "uniform", "--n", "20000"], async (page) => {
    await page.waitForFunction(() => Number(document.documentElement.dataset.frame) > 3);
    const seen = await it.colours(page);
    assert.ok(seen.alone > 5000 && seen.different > 100, JSON.stringify(seen));
    await it.picture(page, "many");
    await page.click("summary:has-text('Scene')");
    await page.selectOption("#scene-name", "churn");
    await page.fill("#scene-n", "700");
    await page.click("#scene button");
    await page.waitForFunction(() => document.getElementById("name").textContent === "Scene churn");
    await page.waitForFunction(
      () => Number(document.querySelector("#facts dd").textContent) <= 700,
    );
  });
});

test("a recording is saved, replayed and shown", async () => {
  await looking(["--scene", "churn", "--n", "300", "--paused"], async (page) => {
    await page.click("summary:has-text('Save')");
    await page.click("#record");
    await page.waitForFunction(
      () => document.getElementById("record").getAttribute("aria-pressed") === "true",
    );
    for (const step of [1, 2, 3, 4]) {
      await page.click("#step");
      await it.frame(page, step);
    }
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#record")]);
    await download.saveAs(path.join(it.folder, "saved.rec"));
  });
  assert.match(it.run("replay", "saved.rec", "--algorithm", "bvh,sap"), /4 steps agree/);
  await looking(["saved.rec", "--paused"], async (page) => {
    await page.keyboard.press(".");
    await it.frame(page, 1);
    assert.equal(await page.textContent("#name"), "saved.rec");
  });
});

test("an exported page opens from disk", async () => {
  it.run("view", "--scene", "uniform", "--n", "300", "--frames", "10", "--export", "page.html");
  const page = await it.open(pathToFileURL(path.join(it.folder, "page.html")).href);
  await it.frame(page, 9);
  // It stops a moment later; if it still played, it would run on from the first frame.
  await page.waitForFunction(() => document.getElementById("play").textContent === "Play");
  assert.ok((await it.colours(page)).alone > 1000);
  await page.keyboard.press("Home");
  await it.frame(page, 0);
  await page.keyboard.press(".");
  await it.frame(page, 1);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("a phone's width shows everything", async () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  await looking(
    ["--scene", "uniform", "--n", "500", "--paused"],
    async (page) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(wide, false, "nothing sticks out");
      for (const id of ["#play", "#seek", "#algorithm"]) {
        assert.ok(await page.locator(id).isVisible(), id);
      }
      await it.picture(page, "phone");
    },
    phone,
  );
});
