// Boxes as instances of one cube, or the shapes of bodies, coloured by state.

import * as THREE from "three";
import type { Palette } from "./palette";
import type { Frame } from "./protocol";

// Infinite bounds are drawn this far beyond what is finite, in sizes of the world.
const REACH = 0.5;

class Instances {
  readonly mesh: THREE.InstancedMesh;
  private matrix: Float32Array;
  private colour: Float32Array;
  count = 0;

  constructor(
    geometry: THREE.BufferGeometry,
    material: THREE.Material,
    readonly capacity: number,
  ) {
    this.mesh = new THREE.InstancedMesh(geometry, material, capacity);
    this.mesh.frustumCulled = false;
    this.matrix = this.mesh.instanceMatrix.array as Float32Array;
    this.colour = new Float32Array(capacity * 3);
    this.mesh.instanceColor = new THREE.InstancedBufferAttribute(this.colour, 3);
    this.mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
  }

  put(elements: ArrayLike<number>, colour: THREE.Color): void {
    this.matrix.set(elements, this.count * 16);
    colour.toArray(this.colour, this.count * 3);
    this.count += 1;
  }

  // Position and size along the axes, without making a matrix first.
  putBox(at: number[], size: number[], colour: THREE.Color): void {
    const start = this.count * 16;
    this.matrix.fill(0, start, start + 16);
    for (let k = 0; k < 3; k++) {
      this.matrix[start + k * 5] = size[k] ?? 0;
      this.matrix[start + 12 + k] = at[k] ?? 0;
    }
    this.matrix[start + 15] = 1;
    colour.toArray(this.colour, this.count * 3);
    this.count += 1;
  }

  finish(): void {
    this.mesh.count = this.count;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    this.mesh.visible = this.count > 0;
  }

  dispose(): void {
    this.mesh.dispose();
    this.mesh.geometry.dispose();
  }
}

// By the kinds of `frame.rs`, without the first, which is none.
function geometries(): THREE.BufferGeometry[] {
  return [
    new THREE.SphereGeometry(1, 20, 14),
    new THREE.BoxGeometry(2, 2, 2),
    new THREE.CapsuleGeometry(1, 2, 6, 16),
    new THREE.CylinderGeometry(1, 1, 2, 20),
    new THREE.ConeGeometry(1, 2, 20),
    new THREE.OctahedronGeometry(1),
  ];
}

export class BoxView {
  readonly group = new THREE.Group();
  private material = new THREE.MeshLambertMaterial();
  private boxes: Instances | null = null;
  private shapes: Instances[] = [];
  private colours: THREE.Color[] = [];
  private selectedColour = new THREE.Color();

  setPalette(palette: Palette): void {
    this.colours = palette.states.map((colour) => new THREE.Color(colour));
    this.selectedColour = new THREE.Color(palette.selected);
  }

  setTransparent(transparent: boolean): void {
    this.material.transparent = transparent;
    this.material.opacity = transparent ? 0.3 : 1;
    this.material.depthWrite = !transparent;
    this.material.needsUpdate = true;
  }

  update(frame: Frame, selected: number | null): void {
    const count = frame.states.length;
    const bodies = frame.header.world;
    const small = !this.boxes || this.boxes.capacity < count;
    if (small || bodies !== this.shapes.length > 0) this.grow(Math.max(64, count), bodies);
    const { boxes, shapes } = this;
    if (!boxes) return;
    for (const one of [boxes, ...shapes]) one.count = 0;
    for (let place = 0; place < count; place++) {
      const slot = place * frame.header.stride;
      const state = frame.states[place] ?? 0;
      const colour = slot === selected ? this.selectedColour : this.colours[state];
      if (!colour || !isBox(frame.bounds, place)) continue;
      if (bodies) this.putBody(frame, place, colour);
      else boxes.putBox(...placed(frame, place), colour);
    }
    for (const one of [boxes, ...shapes]) one.finish();
  }

  private putBody(frame: Frame, place: number, colour: THREE.Color): void {
    const at = place * 11;
    const part = (k: number): number => frame.bodies[at + k] ?? 0;
    const kind = part(0);
    const instances = this.shapes[kind - 1];
    if (!instances) return;
    const size = new THREE.Vector3(part(1), part(2), part(3));
    if (kind === 1) size.setScalar(part(1));
    // A capsule's geometry has radius and half height alike.
    if (kind === 3) size.set(part(1), (part(1) + part(2)) / 2, part(1));
    if (kind === 4 || kind === 5) size.set(part(1), part(2), part(1));
    const position = new THREE.Vector3(part(4), part(5), part(6));
    const turn = new THREE.Quaternion(part(7), part(8), part(9), part(10));
    instances.put(new THREE.Matrix4().compose(position, turn, size).elements, colour);
  }

  private grow(count: number, bodies: boolean): void {
    const capacity = Math.ceil(count * 1.25);
    for (const one of [this.boxes, ...this.shapes]) one?.dispose();
    this.group.clear();
    this.boxes = new Instances(new THREE.BoxGeometry(1, 1, 1), this.material, capacity);
    this.shapes = (bodies ? geometries() : []).map(
      (one) => new Instances(one, this.material, capacity),
    );
    this.group.add(this.boxes.mesh, ...this.shapes.map((one) => one.mesh));
  }
}

export function isBox(bounds: Float32Array, place: number): boolean {
  return !Number.isNaN(bounds[place * 6] ?? NaN);
}

// Centre and size of a box; infinite bounds end a little beyond the world.
export function placed(frame: Frame, place: number): [number[], number[]] {
  const { low, high } = frame.header;
  const at: number[] = [];
  const size: number[] = [];
  for (let k = 0; k < 3; k++) {
    const world = (high[k] ?? 1) - (low[k] ?? 0) || 1;
    const min = Math.max(frame.bounds[place * 6 + k] ?? 0, (low[k] ?? 0) - REACH * world);
    const max = Math.min(frame.bounds[place * 6 + 3 + k] ?? 0, (high[k] ?? 0) + REACH * world);
    at.push((min + max) / 2);
    // Flat boxes stay visible.
    size.push(Math.max(max - min, world * 1e-4));
  }
  return [at, size];
}
