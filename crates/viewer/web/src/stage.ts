// The three.js scene: camera, light, boxes and overlays.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { BoxView, isBox, placed } from "./boxes";
import { Overlays, type Query } from "./overlays";
import { paletteOf, type Palette, type Theme } from "./palette";
import type { Frame } from "./protocol";

export interface View {
  selected: number | null;
  follow: boolean;
  transparent: boolean;
  level: number | null;
  query: Query | null;
}

export interface Ray {
  origin: [number, number, number];
  direction: [number, number, number];
}

export class Stage {
  private renderer: THREE.WebGLRenderer;
  private scene = new THREE.Scene();
  private camera = new THREE.PerspectiveCamera(45, 1, 0.01, 1000);
  private controls: OrbitControls;
  private boxes = new BoxView();
  private overlays = new Overlays();
  private frameBox = new THREE.Box3Helper(new THREE.Box3(), 0x888888);
  private palette: Palette = paletteOf("light");
  private frame: Frame | null = null;
  // Counts pictures; tests wait for it.
  drawn = 0;

  constructor(
    private canvas: HTMLCanvasElement,
    private view: View,
  ) {
    this.renderer = new THREE.WebGLRenderer({
      canvas,
      antialias: true,
      preserveDrawingBuffer: true,
    });
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.draw());
    const sun = new THREE.DirectionalLight(0xffffff, 1.6);
    sun.position.set(1, 2, 1.5);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x8890a0, 1.9), sun);
    this.scene.add(this.frameBox, this.boxes.group, this.overlays.group);
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  setTheme(theme: Theme): void {
    this.palette = paletteOf(theme);
    this.boxes.setPalette(this.palette);
    this.scene.background = new THREE.Color(this.palette.background);
    (this.frameBox.material as THREE.LineBasicMaterial).color.set(this.palette.grid);
    this.refresh();
  }

  show(frame: Frame): void {
    const first = this.frame === null || this.frame.header.source.name !== frame.header.source.name;
    this.frame = frame;
    if (first) this.lookAtAll();
    this.refresh();
  }

  // Draws again after something other than the frame changed.
  refresh(): void {
    if (!this.frame) return;
    const { view, frame } = this;
    this.boxes.setTransparent(view.transparent);
    this.boxes.update(frame, view.selected);
    this.overlays.update(frame, this.palette, view.level, view.query);
    const { low, high } = frame.header;
    this.frameBox.box.set(new THREE.Vector3(...low), new THREE.Vector3(...high));
    if (view.follow) this.follow();
    this.draw();
  }

  lookAtAll(): void {
    if (!this.frame) return;
    const { low, high } = this.frame.header;
    const centre = new THREE.Vector3(...low).add(new THREE.Vector3(...high)).multiplyScalar(0.5);
    const size = Math.max(new THREE.Vector3(...high).distanceTo(new THREE.Vector3(...low)), 1e-3);
    this.controls.target.copy(centre);
    const wide = Math.max(1, 1 / this.camera.aspect);
    this.camera.position
      .copy(centre)
      .addScaledVector(new THREE.Vector3(0.55, 0.42, 0.72), size * 1.4 * wide);
    this.camera.near = size / 1000;
    this.camera.far = size * 20;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.draw();
  }

  // Moves the camera along with the selected box.
  private follow(): void {
    const centre = this.view.selected === null ? null : this.centreOf(this.view.selected);
    if (!centre) return;
    const target = new THREE.Vector3(...centre);
    this.camera.position.add(target.clone().sub(this.controls.target));
    this.controls.target.copy(target);
    this.controls.update();
  }

  centreOf(slot: number): [number, number, number] | null {
    if (!this.frame || slot % this.frame.header.stride !== 0) return null;
    const place = slot / this.frame.header.stride;
    if (!isBox(this.frame.bounds, place)) return null;
    const [x, y, z] = placed(this.frame, place)[0];
    return [x ?? 0, y ?? 0, z ?? 0];
  }

  // Turns the view by keys: radians, and a factor of the distance.
  orbit(turn: number, tilt: number, zoom: number): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const sphere = new THREE.Spherical().setFromVector3(offset);
    sphere.theta += turn;
    sphere.phi = Math.min(Math.PI - 0.05, Math.max(0.05, sphere.phi + tilt));
    sphere.radius *= zoom;
    this.camera.position.setFromSpherical(sphere).add(this.controls.target);
    this.controls.update();
    this.draw();
  }

  // The ray through a place of the canvas, in pixels; through its middle if none is given.
  rayAt(x?: number, y?: number): Ray {
    const bounds = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(
      x === undefined ? 0 : ((x - bounds.left) / bounds.width) * 2 - 1,
      y === undefined ? 0 : 1 - ((y - bounds.top) / bounds.height) * 2,
    );
    const caster = new THREE.Raycaster();
    caster.setFromCamera(at, this.camera);
    return { origin: caster.ray.origin.toArray(), direction: caster.ray.direction.toArray() };
  }

  // Where a ray passes the point around which the view turns.
  pointOn(ray: Ray): [number, number, number] {
    const origin = new THREE.Vector3(...ray.origin);
    const direction = new THREE.Vector3(...ray.direction);
    const along = this.controls.target.clone().sub(origin).dot(direction);
    return origin.addScaledVector(direction, Math.max(along, 0)).toArray();
  }

  // The box that a ray meets first.
  pick(ray: Ray): number | null {
    if (!this.frame) return null;
    const { bounds, header, states } = this.frame;
    let [best, found]: [number, number | null] = [Infinity, null];
    for (let place = 0; place < states.length; place++) {
      let [enter, leave] = [0, Infinity];
      for (let k = 0; k < 3; k++) {
        const [from, by] = [ray.origin[k] ?? 0, 1 / (ray.direction[k] || 1e-30)];
        const one = ((bounds[place * 6 + k] ?? NaN) - from) * by;
        const other = ((bounds[place * 6 + 3 + k] ?? NaN) - from) * by;
        enter = Math.max(enter, Math.min(one, other));
        leave = Math.min(leave, Math.max(one, other));
      }
      if (enter <= leave && enter < best) [best, found] = [enter, place * header.stride];
    }
    return found;
  }

  picture(): string {
    this.draw();
    return this.canvas.toDataURL("image/png");
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  private draw(): void {
    this.renderer.render(this.scene, this.camera);
    this.drawn += 1;
    document.documentElement.dataset["drawn"] = String(this.drawn);
  }
}
