// Okabe and Ito's colours: told apart with every kind of colour vision, and by lightness.

export interface Palette {
  background: number;
  grid: number;
  states: [number, number, number, number, number];
  pair: number;
  selected: number;
  query: number;
  text: string;
  line: string;
  first: string;
  second: string;
}

const LIGHT: Palette = {
  background: 0xf6f7f9,
  grid: 0xc6ccd4,
  states: [0x0072b2, 0xe69f00, 0xcc5fa0, 0x9aa3ad, 0x1a1a1a],
  pair: 0xb35c00,
  selected: 0x00a878,
  query: 0x00875f,
  text: "#1c2430",
  line: "#c9d0d8",
  first: "#0072b2",
  second: "#b35c00",
};

const DARK: Palette = {
  background: 0x12161c,
  grid: 0x333c48,
  states: [0x56b4e9, 0xe69f00, 0xe58ac4, 0x77808b, 0xffffff],
  pair: 0xffc04d,
  selected: 0x35d6a5,
  query: 0x35d6a5,
  text: "#e6ebf2",
  line: "#3a4350",
  first: "#56b4e9",
  second: "#ffb000",
};

export type Theme = "light" | "dark";

export function paletteOf(theme: Theme): Palette {
  return theme === "dark" ? DARK : LIGHT;
}

export function preferredTheme(): Theme {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function css(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`;
}
