// Puts the parts together: frames in, pictures out, and everything a user can do.

import { Charts } from "./charts";
import { ExportedConnection, ServerConnection, type Command, type Connection } from "./connection";
import { block, button, download, element, input, options, select, terms } from "./dom";
import { showInspected } from "./inspector";
import { installKeys } from "./keys";
import { css, paletteOf, preferredTheme, type Theme } from "./palette";
import { STATES, type Frame, type Header, type Hello, type Inspected } from "./protocol";
import { Stage, type Ray, type View } from "./stage";

type Tool = "select" | "throw" | "ray" | "nearest";

const view: View = { selected: null, follow: false, transparent: false, level: null, query: null };
const stage = new Stage(element("stage", HTMLCanvasElement), view);
const charts = new Charts(block("charts"));
let theme: Theme = preferredTheme();
let last: Frame | null = null;
let told = "";
let inspecting = false;

const exported = document.getElementById("exported")?.textContent ?? null;
const listener = { hello, frame: show, lost: (why: string) => note(why) };
const connection: Connection = exported
  ? new ExportedConnection(exported, listener)
  : new ServerConnection(listener);

function note(text: string): void {
  told = text;
  block("note").textContent = text;
}

// Asks for something; what is wrong is shown.
async function ask<T>(command: Command): Promise<T | null> {
  try {
    const answer = await connection.ask<T>(command);
    if (told) note("");
    return answer;
  } catch (error) {
    note(error instanceof Error ? error.message : String(error));
    return null;
  }
}

function hello(hello: Hello): void {
  options(select("algorithm"), hello.algorithms);
  options(select("compare"), hello.algorithms);
  options(select("scene-name"), hello.scenes);
  select("scene-name").onchange = () => sceneForm(hello);
  sceneForm(hello);
  element("scene", HTMLFormElement).onsubmit = (event) => {
    event.preventDefault();
    void showScene();
  };
}

// The parameters of the chosen scene.
function sceneForm(hello: Hello): void {
  const scene = hello.scenes.find(({ name }) => name === select("scene-name").value);
  block("scene-about").textContent = scene?.about ?? "";
  const fields = (scene?.params ?? []).map((param) => {
    const label = document.createElement("label");
    label.title = param.about;
    label.append(`${param.name} `);
    const field = param.choices.length
      ? document.createElement("select")
      : document.createElement("input");
    field.dataset["param"] = param.name;
    if (field instanceof HTMLSelectElement) {
      param.choices.forEach((choice, k) => field.append(new Option(choice, String(k))));
    } else {
      field.type = "number";
      field.step = "any";
      field.min = String(param.min);
      field.max = String(param.max);
    }
    field.value = String(param.default);
    label.append(field);
    return label;
  });
  block("params").replaceChildren(...fields);
}

async function showScene(): Promise<void> {
  const fields = block("params").querySelectorAll<HTMLInputElement | HTMLSelectElement>(
    "[data-param]",
  );
  const params = Object.fromEntries(
    [...fields].map((field) => [field.dataset["param"], Number(field.value)]),
  );
  const [n, seed] = [input("scene-n").valueAsNumber, input("scene-seed").valueAsNumber];
  const world = input("scene-world").checked;
  choose(null);
  await ask({ do: "scene", name: select("scene-name").value, n, seed, params, world });
  stage.lookAtAll();
}

function show(frame: Frame): void {
  last = frame;
  if (view.selected !== null && view.selected >= frame.header.slots) choose(null);
  stage.show(frame);
  charts.add(frame.header);
  charts.draw(paletteOf(theme));
  facts(frame.header);
  controls(frame.header);
  if (view.selected !== null && !inspecting) void inspect();
  document.documentElement.dataset["frame"] = String(frame.header.frame);
}

function facts(header: Header): void {
  const { source } = header;
  block("name").textContent = source.kind === "scene" ? `Scene ${source.name}` : source.name;
  const number = (value: number): string => value.toLocaleString("en").replaceAll(",", "\u2009");
  const list: [string, string][] = [
    ["boxes", number(header.live)],
    ["pairs", number(header.pairs)],
    ...(header.touches === null
      ? []
      : ([["touching", number(header.touches)]] as [string, string][])),
    ["began, ended", `${number(header.began)}, ${number(header.ended)}`],
    ["tests", number(header.tests)],
    ["broad phase", `${header.update_ms.toFixed(3)} ms`],
    ["whole step", `${header.step_ms.toFixed(3)} ms`],
  ];
  if (header.second) {
    const same =
      header.second.pairs === header.pairs ? "the same pairs" : `${header.second.pairs} pairs!`;
    list.push([header.second.name, `${header.second.update_ms.toFixed(3)} ms, ${same}`]);
  }
  if (header.recorded !== null) list.push(["recorded", `${(header.recorded / 1e6).toFixed(2)} MB`]);
  block("facts").replaceChildren(...terms(list));
  block("reason").textContent = header.reason ? `auto chose ${header.reason}` : "";
  const problems = [header.error, header.refused, header.recording_failed].filter(
    (one) => one !== null,
  );
  if (header.stride > 1) {
    problems.push(`Every ${header.stride}th box is drawn: ${number(header.live)} are too many.`);
  }
  if (header.seeking) problems.push("Seeking …");
  if (!told) block("note").textContent = problems.join(" ");
}

// Shows what holds, without disturbing a field that is being used.
function controls(header: Header): void {
  button("play").textContent = header.playing ? "Pause" : "Play";
  block("at").textContent = String(header.frame ?? 0);
  const seek = input("seek");
  const end =
    header.frames === null ? Math.max(300, Number(seek.max), header.frame ?? 0) : header.frames - 1;
  seek.max = String(end);
  const set = (field: HTMLInputElement | HTMLSelectElement, value: string): void => {
    if (document.activeElement !== field) field.value = value;
  };
  set(seek, String(header.frame ?? 0));
  set(select("algorithm"), header.algorithm);
  set(select("compare"), header.second?.name ?? "");
  set(input("threads"), String(header.threads));
  set(select("speed"), String(header.speed));
  const deepest = last?.regionAbout.reduce(
    (most, value, k) => (k % 2 ? most : Math.max(most, value)),
    0,
  );
  input("level").max = String(deepest ?? 0);
  button("record").setAttribute("aria-pressed", String(header.recorded !== null));
}

function choose(slot: number | null): void {
  view.selected = slot;
  if (slot === null) setFollow(false);
  input("slot").value = slot === null ? "" : String(slot);
  stage.refresh();
  if (slot === null) showInspected(null, choose);
  else void inspect();
}

async function inspect(): Promise<void> {
  const slot = view.selected;
  if (slot === null) return;
  if (!connection.live)
    return showInspected(`Box ${slot}. Start jostle view to ask about it.`, choose);
  inspecting = true;
  try {
    showInspected(await connection.ask<Inspected>({ do: "inspect", slot }), choose);
  } catch (error) {
    showInspected(error instanceof Error ? error.message : String(error), choose);
  } finally {
    inspecting = false;
  }
}

function setFollow(follow: boolean): void {
  view.follow = follow && view.selected !== null;
  button("follow").setAttribute("aria-pressed", String(view.follow));
  stage.refresh();
}

function drawWhat(): void {
  void ask({ do: "draw", pairs: input("pairs").checked, sketch: input("sketch").checked });
}

function setTheme(dark: boolean): void {
  theme = dark ? "dark" : "light";
  document.documentElement.dataset["theme"] = theme;
  input("dark").checked = dark;
  const palette = paletteOf(theme);
  const colours: [string, number][] = STATES.map((name, k) => [name, palette.states[k] ?? 0]);
  const entries = [...colours, ["selected", palette.selected] as const].map(([name, colour]) => {
    const entry = document.createElement("span");
    const mark = document.createElement("i");
    mark.style.background = css(colour);
    entry.append(mark, name);
    return entry;
  });
  block("legend").replaceChildren(...entries);
  stage.setTheme(theme);
  charts.draw(palette);
}

function tool(): Tool {
  const chosen = document.querySelector<HTMLInputElement>("input[name=tool]:checked");
  return (chosen?.value ?? "select") as Tool;
}

async function use(what: Tool, ray: Ray): Promise<void> {
  switch (what) {
    case "select":
      return choose(stage.pick(ray));
    case "throw":
      return throwBox(ray);
    case "ray": {
      const answer = await ask<{ count: number; hits: { slot: number; enter: number }[] }>({
        do: "ray",
        ...ray,
      });
      if (!answer) return;
      const far = answer.hits.at(-1)?.enter ?? 1000;
      const along = (by: number): [number, number, number] => [
        ray.origin[0] + ray.direction[0] * by,
        ray.origin[1] + ray.direction[1] * by,
        ray.origin[2] + ray.direction[2] * by,
      ];
      view.query = { from: along(0), to: [along(far)] };
      const named = answer.hits
        .slice(0, 8)
        .map(({ slot }) => slot)
        .join(", ");
      answered(`The ray meets ${answer.count} boxes${named ? `: ${named}` : ""}.`);
      choose(answer.hits[0]?.slot ?? null);
      return;
    }
    case "nearest": {
      const point = stage.pointOn(ray);
      const answer = await ask<{ nearest: { slot: number; distance: number }[] }>({
        do: "nearest",
        point,
        count: 8,
      });
      if (!answer) return;
      const ends = answer.nearest
        .map(({ slot }) => stage.centreOf(slot))
        .filter((one) => one !== null);
      view.query = { from: point, to: ends };
      const named = answer.nearest.map(
        ({ slot, distance }) => `${slot} (${distance.toPrecision(3)})`,
      );
      answered(`Nearest: ${named.join(", ")}.`);
      stage.refresh();
    }
  }
}

function answered(text: string): void {
  block("answer").textContent = text;
  note(text);
}

// A box as large as the world's twentieth part, thrown away from the viewer.
async function throwBox(ray: Ray): Promise<void> {
  if (!last) return;
  const { low, high } = last.header;
  const size = Math.max(...[0, 1, 2].map((k) => (high[k] ?? 0) - (low[k] ?? 0))) / 20;
  const at = stage.pointOn(ray);
  const min = at.map((part) => part - size / 2);
  const max = at.map((part) => part + size / 2);
  const velocity = ray.direction.map((part) => part * size * 0.05);
  const answer = await ask<{ slot: number }>({ do: "throw", min, max, velocity });
  if (answer) choose(answer.slot);
}

async function removeSelected(): Promise<void> {
  if (view.selected !== null && (await ask({ do: "remove", slot: view.selected }))) choose(null);
}

async function record(): Promise<void> {
  const on = last?.header.recorded === null;
  if (!(await ask({ do: "record", on })) || on) return;
  const answer = await fetch("recording");
  download("world.rec", URL.createObjectURL(await answer.blob()));
}

const seekTo = (frame: number): void => void ask({ do: "seek", frame: Math.max(0, frame) });
const back = (): void => seekTo((last?.header.frame ?? 0) - 1);
const stepOn = (): void => void ask({ do: "step" });
const playOrPause = (): void => void ask({ do: last?.header.playing ? "pause" : "play" });
const savePicture = (): void => download("jostle.png", stage.picture());

function faster(by: number): void {
  const list = [...select("speed").options].map((option) => Number(option.value));
  const now = list.findIndex((one) => one >= (last?.header.speed ?? 30));
  const steps = list[Math.max(0, Math.min(list.length - 1, now + by))] ?? 30;
  void ask({ do: "speed", steps });
}

function toggle(id: string): void {
  input(id).click();
}

function menu(): void {
  const wide = document.body.classList.toggle("wide");
  button("menu").setAttribute("aria-expanded", String(!wide));
}

function install(): void {
  button("play").onclick = playOrPause;
  button("step").onclick = stepOn;
  button("back").onclick = back;
  button("menu").onclick = menu;
  button("follow").onclick = () => setFollow(!view.follow);
  button("remove").onclick = () => void removeSelected();
  button("picture").onclick = savePicture;
  button("record").onclick = () => void record();
  button("help-open").onclick = () => element("help", HTMLDialogElement).showModal();
  input("seek").onchange = () => seekTo(input("seek").valueAsNumber);
  select("speed").onchange = () => void ask({ do: "speed", steps: Number(select("speed").value) });
  select("algorithm").onchange = () =>
    void ask({ do: "algorithm", name: select("algorithm").value });
  select("compare").onchange = () =>
    void ask({ do: "compare", name: select("compare").value || null });
  input("threads").onchange = () =>
    void ask({ do: "threads", count: input("threads").valueAsNumber });
  input("slot").onchange = () =>
    choose(Number.isNaN(input("slot").valueAsNumber) ? null : input("slot").valueAsNumber);
  for (const id of ["pairs", "sketch"]) input(id).onchange = drawWhat;
  input("transparent").onchange = () => {
    view.transparent = input("transparent").checked;
    stage.refresh();
  };
  input("dark").onchange = () => setTheme(input("dark").checked);
  input("level").oninput = () => {
    const level = input("level").valueAsNumber;
    view.level = level < 0 ? null : level;
    block("level-at").textContent = level < 0 ? "all" : String(level);
    stage.refresh();
  };
  installPointer();
  if (!connection.live) {
    for (const id of ["algorithm", "compare", "threads", "record", "remove", "pairs", "sketch"]) {
      (document.getElementById(id) as HTMLInputElement).disabled = true;
    }
  }
}

// A click is a press and a release in the same place; anything else turns the view.
function installPointer(): void {
  const canvas = element("stage", HTMLCanvasElement);
  let from: [number, number] = [0, 0];
  canvas.onpointerdown = (event) => {
    from = [event.clientX, event.clientY];
    canvas.focus({ preventScroll: true });
  };
  canvas.onpointerup = (event) => {
    const moved = Math.hypot(event.clientX - from[0], event.clientY - from[1]);
    if (moved < 5 && event.button === 0)
      void use(tool(), stage.rayAt(event.clientX, event.clientY));
  };
}

const turn = (by: number, tilt: number) => () => stage.orbit(by, tilt, 1);
installKeys([
  { keys: [" "], name: "Space", about: "play or pause", act: playOrPause },
  { keys: ["."], name: ".", about: "one step", act: stepOn },
  { keys: [","], name: ",", about: "one step back", act: back },
  { keys: ["Home"], name: "Home", about: "to the first step", act: () => seekTo(0) },
  { keys: ["+", "="], name: "+", about: "faster", act: () => faster(1) },
  { keys: ["-"], name: "−", about: "slower", act: () => faster(-1) },
  { keys: ["ArrowLeft"], name: "←", about: "turn left", act: turn(-0.1, 0) },
  { keys: ["ArrowRight"], name: "→", about: "turn right", act: turn(0.1, 0) },
  { keys: ["ArrowUp"], name: "↑", about: "look from above", act: turn(0, -0.1) },
  { keys: ["ArrowDown"], name: "↓", about: "look from below", act: turn(0, 0.1) },
  { keys: ["PageUp"], name: "Page up", about: "closer", act: () => stage.orbit(0, 0, 0.9) },
  {
    keys: ["PageDown"],
    name: "Page down",
    about: "further away",
    act: () => stage.orbit(0, 0, 1.1),
  },
  { keys: ["0"], name: "0", about: "look at everything", act: () => stage.lookAtAll() },
  {
    keys: ["Enter"],
    name: "Enter",
    about: "select the box in the middle",
    act: () => void use("select", stage.rayAt()),
  },
  {
    keys: ["f", "F"],
    name: "F",
    about: "follow the selected box",
    act: () => setFollow(!view.follow),
  },
  {
    keys: ["Delete"],
    name: "Delete",
    about: "remove the selected box",
    act: () => void removeSelected(),
  },
  {
    keys: ["t", "T"],
    name: "T",
    about: "throw a box ahead",
    act: () => void use("throw", stage.rayAt()),
  },
  {
    keys: ["r", "R"],
    name: "R",
    about: "cast a ray ahead",
    act: () => void use("ray", stage.rayAt()),
  },
  {
    keys: ["n", "N"],
    name: "N",
    about: "nearest boxes in the middle",
    act: () => void use("nearest", stage.rayAt()),
  },
  { keys: ["p", "P"], name: "P", about: "lines between pairs", act: () => toggle("pairs") },
  { keys: ["k", "K"], name: "K", about: "what the algorithm sees", act: () => toggle("sketch") },
  { keys: ["x", "X"], name: "X", about: "see through boxes", act: () => toggle("transparent") },
  { keys: ["d", "D"], name: "D", about: "dark or light", act: () => toggle("dark") },
  { keys: ["s", "S"], name: "S", about: "save a picture", act: savePicture },
  { keys: ["m", "M"], name: "M", about: "settings", act: menu },
  {
    keys: ["?"],
    name: "?",
    about: "these keys",
    act: () => element("help", HTMLDialogElement).showModal(),
  },
]);
install();
setTheme(theme === "dark");
showInspected(null, choose);
