// Lines over the boxes: pairs, what the algorithm sees, contacts, the answer of a query.

import * as THREE from "three";
import { isBox, placed } from "./boxes";
import type { Palette } from "./palette";
import type { Frame } from "./protocol";

class Lines {
  readonly object: THREE.LineSegments;
  private points: number[] = [];
  private colours: number[] = [];

  // On top of boxes if they would hide it.
  constructor(opacity: number, onTop = false) {
    const look = { vertexColors: true, transparent: true, opacity, depthTest: !onTop };
    const material = new THREE.LineBasicMaterial(look);
    this.object = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false;
  }

  add(from: ArrayLike<number>, to: ArrayLike<number>, colour: THREE.Color): void {
    for (const end of [from, to]) {
      this.points.push(end[0] ?? 0, end[1] ?? 0, end[2] ?? 0);
      this.colours.push(colour.r, colour.g, colour.b);
    }
  }

  addBox(min: number[], max: number[], colour: THREE.Color): void {
    const corner = (bits: number): number[] =>
      [0, 1, 2].map((k) => ((bits >> k) & 1 ? max[k] : min[k]) ?? 0);
    for (let bits = 0; bits < 8; bits++) {
      for (let k = 0; k < 3; k++) {
        if (!((bits >> k) & 1)) this.add(corner(bits), corner(bits | (1 << k)), colour);
      }
    }
  }

  finish(): void {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(this.points, 3));
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(this.colours, 3));
    this.object.geometry.dispose();
    this.object.geometry = geometry;
    this.object.visible = this.points.length > 0;
    this.points = [];
    this.colours = [];
  }
}

export interface Query {
  from: [number, number, number];
  to: [number, number, number][];
}

export class Overlays {
  readonly group = new THREE.Group();
  private pairs = new Lines(0.9);
  private regions = new Lines(0.55);
  private contacts = new Lines(1, true);
  private queries = new Lines(1, true);

  constructor() {
    for (const one of [this.pairs, this.regions, this.contacts, this.queries]) {
      this.group.add(one.object);
    }
  }

  update(frame: Frame, palette: Palette, level: number | null, query: Query | null): void {
    this.drawPairs(frame, palette);
    this.drawSketch(frame, palette, level);
    this.drawContacts(frame, palette);
    const colour = new THREE.Color(palette.query);
    for (const to of query?.to ?? []) this.queries.add(query?.from ?? to, to, colour);
    this.queries.finish();
  }

  private drawPairs(frame: Frame, palette: Palette): void {
    const colour = new THREE.Color(palette.pair);
    const { stride } = frame.header;
    for (let k = 0; k + 1 < frame.pairs.length; k += 2) {
      const ends = [frame.pairs[k] ?? 0, frame.pairs[k + 1] ?? 0];
      if (ends.some((slot) => slot % stride !== 0)) continue;
      const [from, to] = ends.map((slot) => placed(frame, slot / stride)[0]);
      if (from && to) this.pairs.add(from, to, colour);
    }
    this.pairs.finish();
  }

  // Regions, the fuller the stronger, and along sweep axes the endpoints as ticks.
  private drawSketch(frame: Frame, palette: Palette, level: number | null): void {
    const { low, high, sweep_axes } = frame.header;
    const [few, many] = [new THREE.Color(palette.grid), new THREE.Color(palette.states[1])];
    const most = frame.regionAbout.reduce(
      (sum, value, k) => (k % 2 ? Math.max(sum, value) : sum),
      1,
    );
    for (let k = 0; k * 2 < frame.regionAbout.length; k++) {
      const [at, boxes] = [frame.regionAbout[k * 2] ?? 0, frame.regionAbout[k * 2 + 1] ?? 0];
      if (level !== null && at !== level) continue;
      const bound = (part: number): number => frame.regions[k * 6 + part] ?? 0;
      const min = [0, 1, 2].map((axis) => Math.max(bound(axis), low[axis] ?? 0));
      const max = [0, 1, 2].map((axis) => Math.min(bound(axis + 3), high[axis] ?? 0));
      this.regions.addBox(min, max, few.clone().lerp(many, Math.sqrt(boxes / most)));
    }
    sweep_axes.forEach((swept, axis) => {
      if (swept) this.drawAxis(frame, palette, axis);
    });
    this.regions.finish();
  }

  private drawAxis(frame: Frame, palette: Palette, axis: number): void {
    const { low, high } = frame.header;
    const colour = new THREE.Color(palette.query);
    const gap = 0.02 * Math.max(...[0, 1, 2].map((k) => (high[k] ?? 0) - (low[k] ?? 0)));
    const at = (place: number, lift: number): number[] => {
      const point = [low[0] - gap, low[1] - gap, low[2] - gap];
      point[axis] = place;
      point[(axis + 1) % 3] = (point[(axis + 1) % 3] ?? 0) - lift;
      return point;
    };
    this.regions.add(at(low[axis] ?? 0, 0), at(high[axis] ?? 0, 0), colour);
    const step = Math.max(1, Math.floor(frame.states.length / 2000));
    for (let place = 0; place < frame.states.length; place += step) {
      if (!isBox(frame.bounds, place)) continue;
      // Lower ends are short, upper ends long.
      const [min, max] = [
        frame.bounds[place * 6 + axis] ?? 0,
        frame.bounds[place * 6 + 3 + axis] ?? 0,
      ];
      this.regions.add(at(min, 0), at(min, gap), colour);
      this.regions.add(at(max, 0), at(max, gap * 2), colour);
    }
  }

  private drawContacts(frame: Frame, palette: Palette): void {
    const colour = new THREE.Color(palette.query);
    const { low, high } = frame.header;
    const length = 0.02 * Math.hypot(...[0, 1, 2].map((k) => (high[k] ?? 0) - (low[k] ?? 0)));
    for (let k = 0; k + 6 < frame.contacts.length; k += 7) {
      const point = [0, 1, 2].map((axis) => frame.contacts[k + axis] ?? 0);
      const tip = point.map((part, axis) => part + length * (frame.contacts[k + 3 + axis] ?? 0));
      this.contacts.add(point, tip, colour);
      for (let axis = 0; axis < 3; axis++) {
        const cross = (side: number): number[] =>
          point.map((part, one) => (one === axis ? part + side * length * 0.2 : part));
        this.contacts.add(cross(-1), cross(1), colour);
      }
    }
    this.contacts.finish();
  }
}
