// Small charts over the last few hundred steps.

import type { Palette } from "./palette";
import type { Header } from "./protocol";

const KEPT = 300;

interface Line {
  name: string;
  values: (number | null)[];
  second: boolean;
}

interface Chart {
  title: string;
  unit: string;
  canvas: HTMLCanvasElement;
  legend: HTMLElement;
  lines: Line[];
}

export class Charts {
  private charts: Chart[] = [];
  private last: number | null = null;

  constructor(place: HTMLElement) {
    const add = (title: string, unit: string, names: string[]): void => {
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      const canvas = document.createElement("canvas");
      const legend = document.createElement("small");
      caption.textContent = title;
      figure.append(caption, legend, canvas);
      place.append(figure);
      const lines = names.map((name, k) => ({ name, values: [], second: k > 0 }));
      this.charts.push({ title, unit, canvas, legend, lines });
    };
    add("Time of the broad phase", "ms", ["first", "second"]);
    add("Pairs", "", ["pairs"]);
    add("Events", "", ["began", "ended"]);
    add("Overlap tests", "", ["first", "second"]);
  }

  add(header: Header): void {
    // The same frame again is seen by another algorithm or has other boxes: it replaces the last.
    if (header.frame === this.last) for (const chart of this.charts) dropLast(chart);
    // Backwards is another run.
    if (header.frame === null || (this.last !== null && header.frame < this.last)) this.clear();
    this.last = header.frame;
    const second = header.second;
    const values: (number | null)[][] = [
      [header.update_ms, second?.update_ms ?? null],
      [header.pairs],
      [header.began, header.ended],
      [header.tests, second?.tests ?? null],
    ];
    this.charts.forEach((chart, k) => {
      chart.lines.forEach((line, m) => {
        line.values.push(values[k]?.[m] ?? null);
        if (line.values.length > KEPT) line.values.shift();
      });
      const names = k === 2 || k === 1 ? null : [header.algorithm, second?.name ?? null];
      chart.lines.forEach((line, m) => {
        if (names) line.name = names[m] ?? "";
      });
    });
  }

  clear(): void {
    for (const chart of this.charts) for (const line of chart.lines) line.values = [];
  }

  draw(palette: Palette): void {
    for (const chart of this.charts) drawChart(chart, palette);
  }
}

function dropLast(chart: Chart): void {
  for (const line of chart.lines) line.values.pop();
}

function drawChart(chart: Chart, palette: Palette): void {
  const { canvas } = chart;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width || !height) return;
  const ratio = Math.min(devicePixelRatio, 2);
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const all = chart.lines.flatMap((line) => line.values).filter((value) => value !== null);
  const top = Math.max(...all, 1e-6) * 1.1;
  context.strokeStyle = palette.line;
  context.fillStyle = palette.text;
  context.font = "11px system-ui, sans-serif";
  for (const share of [0, 0.5, 1]) {
    const y = height - 4 - share * (height - 18);
    context.beginPath();
    context.moveTo(44, y);
    context.lineTo(width, y);
    context.stroke();
    context.textAlign = "right";
    context.fillText(brief(top * share), 40, y + 3);
  }
  for (const line of chart.lines) {
    context.strokeStyle = line.second ? palette.second : palette.first;
    context.setLineDash(line.second ? [5, 3] : []);
    context.lineWidth = 1.6;
    context.beginPath();
    line.values.forEach((value, k) => {
      if (value === null) return;
      const x = 44 + (k / (KEPT - 1)) * (width - 46);
      const y = height - 4 - (value / top) * (height - 18);
      if (k === 0 || line.values[k - 1] === null) context.moveTo(x, y);
      else context.lineTo(x, y);
    });
    context.stroke();
    context.setLineDash([]);
    // The newest value is a dot, which a single step shows too.
    const newest = line.values.at(-1);
    if (newest === undefined || newest === null) continue;
    const x = 44 + ((line.values.length - 1) / (KEPT - 1)) * (width - 46);
    context.fillStyle = line.second ? palette.second : palette.first;
    context.beginPath();
    context.arc(x, height - 4 - (newest / top) * (height - 18), 2.5, 0, 2 * Math.PI);
    context.fill();
  }
  chart.legend.replaceChildren(
    ...chart.lines.flatMap((line) => legendOf(line, chart.unit, palette)),
  );
}

function legendOf(line: Line, unit: string, palette: Palette): HTMLElement[] {
  const value = line.values.at(-1);
  if (value === undefined || value === null) return [];
  const item = document.createElement("span");
  const mark = document.createElement("i");
  const [style, colour] = line.second ? ["dashed", palette.second] : ["solid", palette.first];
  mark.style.borderTop = `2px ${style} ${colour}`;
  item.append(mark, `${line.name} ${brief(value)}${unit ? ` ${unit}` : ""}`);
  return [item];
}

export function brief(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(0)} k`;
  if (value >= 100 || Number.isInteger(value)) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value.toFixed(2);
}
