// What the server sends: a header in JSON and arrays behind it. See `frame.rs`.

export interface SecondRun {
  name: string;
  tests: number;
  update_ms: number;
  pairs: number;
}

export interface SourceAbout {
  kind: "scene" | "file" | "recording";
  name: string;
  n?: number;
  seed?: number;
  params?: Record<string, number>;
}

export interface Header {
  frame: number | null;
  frames: number | null;
  playing: boolean;
  seeking: boolean;
  speed: number;
  source: SourceAbout;
  world: boolean;
  algorithm: string;
  threads: number;
  reason: string | null;
  slots: number;
  stride: number;
  live: number;
  pairs: number;
  began: number;
  ended: number;
  touches: number | null;
  tests: number;
  update_ms: number;
  step_ms: number;
  second: SecondRun | null;
  refused: string | null;
  error: string | null;
  recorded: number | null;
  recording_failed: string | null;
  sweep_axes: [boolean, boolean, boolean];
  regions_left_out: number;
  low: [number, number, number];
  high: [number, number, number];
  arrays: [string, number, number][];
}

export interface Frame {
  header: Header;
  bounds: Float32Array;
  states: Uint8Array;
  pairs: Uint32Array;
  regions: Float32Array;
  regionAbout: Uint32Array;
  bodies: Float32Array;
  contacts: Float32Array;
}

export interface Param {
  name: string;
  default: number;
  min: number;
  max: number;
  choices: string[];
  about: string;
}

export interface Hello {
  version: string;
  algorithms: { name: string; about: string }[];
  scenes: { name: string; about: string; params: Param[] }[];
  cores: number;
}

export interface Inspected {
  slot: number;
  id: string;
  min: [number, number, number];
  max: [number, number, number];
  filter: { membership: number; mask: number; owner: number; still: boolean };
  shape: string | null;
  partner_count: number;
  partners: { slot: number; overlap: [number, number, number] }[];
  apart: { slot: number; why: string }[];
}

// States of boxes, in the order of the palette.
export const STATES = ["alone", "overlapping", "began this step", "still", "refused"] as const;
export const STATE_REFUSED = 4;

export function decodeFrame(buffer: ArrayBuffer): Frame {
  const length = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, length));
  const header = JSON.parse(text) as Header;
  const start = Math.ceil((4 + length) / 4) * 4;
  const part = (name: string): [number, number] => {
    const found = header.arrays.find(([one]) => one === name);
    return found ? [start + found[1], found[2]] : [start, 0];
  };
  const floats = (name: string): Float32Array => {
    const [at, bytes] = part(name);
    return new Float32Array(buffer, at, bytes / 4);
  };
  const words = (name: string): Uint32Array => {
    const [at, bytes] = part(name);
    return new Uint32Array(buffer, at, bytes / 4);
  };
  const [at, bytes] = part("states");
  return {
    header,
    bounds: floats("bounds"),
    states: new Uint8Array(buffer, at, bytes),
    pairs: words("pairs"),
    regions: floats("regions"),
    regionAbout: words("region_about"),
    bodies: floats("bodies"),
    contacts: floats("contacts"),
  };
}
