// The report: 3D view, controls, linked plots.
import {
  AmbientLight, BufferAttribute, BufferGeometry, Color, GridHelper, Group, Line, LineBasicMaterial, PerspectiveCamera,
  Scene, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { arraysOf, readData } from "./data.js";
import { Plot, nearest, place, short, withUnit } from "./plots.js";
import { Anchor, Body, Frame } from "./poses.js";
import { Skin, SoftSurface, StringTube, bodyMesh, colorMap, srgb, tableTexture } from "./skins.js";
import { Stepped } from "./stepped.js";
import { LoadArrow, Symbol3D } from "./symbols.js";
import { UnsignedByteType } from "three";

const SEQUENTIAL = ["#00224e", "#414d6b", "#7c7b78", "#bcaf6f", "#fee838"]; // as cividis: also for colour-blind readers
const DIVERGING = ["#0b5394", "#7fa9cf", "#e9e9e9", "#f0a37c", "#c2410c"];
const RATES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const byId = (id) => document.getElementById(id);

// Smooth edges cost most where no graphics card draws.
function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl && gl.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  return /swiftshader|llvmpipe|softpipe|software/i.test(name);
}

class Report {
  constructor({ head, array }) {
    Object.assign(this, { head, array });
    this.times = array(head.time).values;
    this.clip = head.clips[0];
    this.playing = false;
    this.amp = 1;
    this.size = 0.016 * head.reach;
    this.up = new Vector3().fromArray(head.up);
    this.build();
    this.controls();
    this.plots = head.panels.map((panel) => new Plot(byId("plots"), panel, array, head.palette, (t) => this.goTo(t, true)));
    this.frames = 0;
    this.sharpness = 1;
    this.pace = 0;
    this.goTo(this.times[head.opens_at]);
    if (head.opens_with !== null) {
      byId("colour").selectedIndex = 1 + head.opens_with; // after "by body"
      this.colourBy(String(head.opens_with));
    }
    this.draw();
    requestAnimationFrame((stamp) => this.tick(stamp));
  }

  draw() {
    this.dirty = false;
    this.frames++;
    this.renderer.render(this.scene, this.camera);
  }

  build() {
    const { head, array } = this, canvas = byId("view");
    this.renderer = new WebGLRenderer({ canvas, antialias: !drawsInSoftware() });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.scene = new Scene();
    this.scene.add(new AmbientLight());
    this.camera = new PerspectiveCamera(head.dimension === 2 ? 9 : 32, 1, 0.02 * head.reach, 100 * head.size);
    this.camera.up.copy(this.up);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.addEventListener("change", () => (this.dirty = true));
    this.orbit.addEventListener("start", () => (this.touched = true));
    const skins = head.skins.map((entry) => new Skin(entry, array));
    this.bodies = head.bodies.map((entry) => new Body(entry, array, entry.skin === null ? null : skins[entry.skin]));
    const turns = array(head.frame_turns), origins = array(head.frames);
    this.moving = Array.from({ length: head.frame_count }, (_, i) => new Frame(i, origins, turns));
    const anchor = (entry) => (entry ? new Anchor(entry, array, this.bodies, this.moving) : null);
    this.meshes = this.bodies.map((body) => {
      const tube = body.triangles ? new SoftSurface(body) : body.isString ? new StringTube(body, head.string_radius) : null;
      const mesh = tube ? tube.mesh : bodyMesh(body);
      mesh.userData.tube = tube;
      if (tube instanceof StringTube && head.dimension === 2) { // in the plane nothing hides it
        mesh.renderOrder = 1;
        mesh.material.depthTest = false;
      }
      mesh.name = body.name;
      this.scene.add(mesh);
      return mesh;
    });
    this.symbolGroup = new Group();
    this.symbols = head.symbols.map((entry) => {
      const made = new Symbol3D(entry, anchor(entry.anchor), anchor(entry.other), this.size, head.reach, this.up);
      this.symbolGroup.add(made.object);
      return made;
    });
    this.arrows = head.arrows.map((entry) => {
      const made = new LoadArrow(entry, anchor(entry.anchor), array(entry.values), this.size, head.reach);
      this.symbolGroup.add(made.object);
      return made;
    });
    this.scene.add(this.symbolGroup);
    this.traces = new Map();
    const paths = array(head.paths);
    for (let f = 0; paths && f < paths.shape[1]; f++) {
      const places = new Float32Array(3 * paths.shape[0]);
      for (let i = 0; i < paths.shape[0]; i++) for (let c = 0; c < 3; c++) places[3 * i + c] = paths.values[3 * (paths.shape[1] * i + f) + c];
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(places, 3));
      this.symbolGroup.add(new Line(geometry, new LineBasicMaterial({ color: 0x9a9a9a })));
    }
    this.addGrid();
    this.maps = { sequential: colorMap(SEQUENTIAL), diverging: colorMap(DIVERGING) };
    this.home();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
    this.theme();
  }

  addGrid() {
    const { head } = this, low = new Vector3().fromArray(head.low), high = new Vector3().fromArray(head.high);
    const step = 10 ** Math.round(Math.log10(head.size / 8)), cells = 2 * Math.ceil((0.75 * head.size) / step);
    this.grid = new GridHelper(cells * step, cells, 0x888888, 0x888888);
    this.grid.material.transparent = true;
    this.grid.material.opacity = 0.25;
    if (head.dimension === 2) {
      this.grid.rotation.x = Math.PI / 2;
      this.grid.position.copy(low).add(high).multiplyScalar(0.5);
      this.grid.position.z = head.low[2] - 0.02 * head.size;
    } else {
      this.grid.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), this.up);
      this.grid.position.copy(low).add(high).multiplyScalar(0.5);
      const middle = this.grid.position.dot(this.up), floor = low.dot(this.up) < high.dot(this.up) ? low.dot(this.up) : high.dot(this.up);
      this.grid.position.addScaledVector(this.up, floor - middle - 0.02 * head.size);
    }
    this.scene.add(this.grid);
  }

  // The whole motion in view: from the front in the plane, from above and the side in space.
  home() {
    const { head } = this, low = new Vector3().fromArray(head.low), high = new Vector3().fromArray(head.high);
    const center = low.clone().add(high).multiplyScalar(0.5), aspect = this.camera.aspect || 1.5;
    const half = Math.tan(((this.camera.fov / 2) * Math.PI) / 180);
    let direction = new Vector3(0, 0, 1);
    if (head.dimension === 3) {
      const isUpright = Math.abs(this.up.z) > 0.5;
      direction = new Vector3(0.55, isUpright ? -1 : 0, isUpright ? 0 : 1).addScaledVector(this.up, 0.45).normalize();
    }
    const right = new Vector3().crossVectors(this.up, direction).normalize(), top = new Vector3().crossVectors(direction, right);
    let distance = 0;
    for (let k = 0; k < 8; k++) { // every corner of the box is seen
      const corner = new Vector3(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z).sub(center);
      const across = Math.max(Math.abs(corner.dot(right)) / aspect, Math.abs(corner.dot(top)));
      distance = Math.max(distance, (1.12 * across) / half + corner.dot(direction));
    }
    distance = Math.max(distance, (0.2 * head.size) / half);
    this.camera.position.copy(center).addScaledVector(direction, distance);
    this.orbit.target.copy(center);
    this.orbit.update();
    this.dirty = true;
  }

  resize() {
    const box = this.renderer.domElement.parentElement.getBoundingClientRect();
    if (!box.width) return;
    this.renderer.setSize(box.width, box.height, false);
    this.camera.aspect = box.width / box.height;
    this.camera.updateProjectionMatrix();
    if (!this.touched) this.home(); // the page finds its size while it is built
    if (this.frames !== undefined) this.draw(); // a canvas of another size is empty, and is shown before the next tick
  }

  theme() {
    const style = getComputedStyle(document.documentElement);
    this.scene.background = new Color(style.getPropertyValue("--view").trim());
    this.dirty = true;
    if (this.plots) for (const plot of this.plots) plot.draw();
  }

  controls() {
    const { head } = this;
    const slider = byId("time");
    slider.max = String(1000);
    slider.addEventListener("input", () => this.goTo(this.begin + (slider.value / 1000) * (this.end - this.begin)));
    byId("play").onclick = () => this.toggle();
    byId("home").onclick = () => this.home();
    byId("rate").append(...RATES.map((r) => new Option(`${r} ×`, r)));
    byId("rate").onchange = (event) => (this.rate = Number(event.target.value));
    byId("amp").oninput = (event) => {
      this.amp = 10 ** Number(event.target.value);
      byId("amp_value").textContent = `${short(this.amp)} ×`;
      this.redrawTraces();
      this.show();
    };
    byId("amp").closest("label").hidden = !head.can_amplify;
    byId("follow").append(...this.bodies.flatMap((body, k) => (body.kind === "Surface" ? [] : [new Option(body.name, k)])));
    byId("follow").onchange = (event) => this.follow(event.target.value);
    byId("colour").append(...head.fields.map((field, k) => new Option(`${field.name} [${field.unit}]`, k)));
    byId("colour").onchange = (event) => this.colourBy(event.target.value);
    byId("colour").closest("label").hidden = !head.fields.length;
    byId("trace").append(...head.points.map((point, k) => new Option(point.label, k)));
    byId("trace").onchange = (event) => {
      if (event.target.value !== "") this.toggleTrace(Number(event.target.value));
      event.target.value = "";
    };
    byId("symbols").onchange = (event) => {
      this.symbolGroup.visible = event.target.checked;
      this.dirty = true;
    };
    byId("dark").onclick = () => {
      const root = document.documentElement, dark = (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
      root.dataset.theme = dark ? "light" : "dark";
      this.theme();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme());
    if (head.clips.length > 1) {
      byId("clip").append(...head.clips.map((clip, k) => new Option(clip.name, k)));
      byId("clip").onchange = (event) => this.take(Number(event.target.value));
    }
    byId("clip").closest("label").hidden = head.clips.length < 2;
    this.take(0);
    const span = this.end - this.begin, wished = head.loop ? span / 2 : span / 8;
    this.rate = RATES.reduce((a, b) => (Math.abs(Math.log(b / wished)) < Math.abs(Math.log(a / wished)) ? b : a));
    byId("rate").value = this.rate;
    document.addEventListener("keydown", (event) => this.key(event));
  }

  take(k) {
    this.clip = this.head.clips[k];
    this.begin = this.times[this.clip.first];
    this.end = this.times[this.clip.first + this.clip.count - 1];
    this.now = this.begin;
    byId("caption").textContent = this.clip.name;
    this.redrawTraces();
    this.show();
  }

  key(event) {
    if (event.target.matches("select, input, textarea") && event.key !== "Escape") return;
    const step = (this.end - this.begin) / Math.max(1, this.clip.count - 1);
    const selectNext = (id, by = 1) => {
      const box = byId(id);
      box.selectedIndex = (box.selectedIndex + by + box.options.length) % box.options.length;
      box.dispatchEvent(new Event("change"));
    };
    const actions = {
      " ": () => this.toggle(),
      ArrowRight: () => this.goTo(this.now + (event.shiftKey ? 10 : 1) * step),
      ArrowLeft: () => this.goTo(this.now - (event.shiftKey ? 10 : 1) * step),
      Home: () => this.goTo(this.begin),
      End: () => this.goTo(this.end),
      "+": () => selectNext("rate", byId("rate").selectedIndex < RATES.length - 1 ? 1 : 0),
      "-": () => selectNext("rate", byId("rate").selectedIndex > 0 ? -1 : 0),
      f: () => selectNext("follow"),
      c: () => selectNext("colour"),
      m: () => this.head.clips.length > 1 && selectNext("clip"),
      j: () => byId("symbols").click(),
      d: () => byId("dark").click(),
      r: () => this.home(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.now >= this.end - 1e-12) this.now = this.begin;
    byId("play").setAttribute("aria-label", this.playing ? "pause" : "play");
    byId("play").textContent = this.playing ? "❚❚" : "▶";
    this.last = null;
    this.pace = 0;
    this.sharpen(1);
    if (!this.playing) this.goTo(this.now);
  }

  // Fewer pixels while a slow machine plays; all of them when it rests.
  sharpen(share) {
    this.sharpness = share;
    this.renderer.setPixelRatio(share * Math.min(window.devicePixelRatio || 1, 2));
    this.dirty = true;
  }

  keepPace(passed) {
    this.pace = 0.9 * this.pace + 0.1 * passed;
    if (this.pace <= 0.036 || this.sharpness <= 0.55) return;
    this.sharpen(0.8 * this.sharpness);
    this.pace = 0;
  }

  // Numbers beside curves are those of stored instants, as long as nothing plays.
  goTo(t, isStored = false) {
    const snaps = !isStored && !this.playing && this.plots && this.plots.length && this.times.length > 1;
    this.now = Math.min(this.end, Math.max(this.begin, snaps ? nearest(this.times, t) : t));
    this.show();
  }

  tick(stamp) {
    requestAnimationFrame((next) => this.tick(next));
    if (this.playing) {
      const passed = this.last === null ? 0 : Math.min(0.1, (stamp - this.last) / 1000);
      this.last = stamp;
      this.keepPace(passed);
      let next = this.now + passed * this.rate;
      if (next > this.end) next = this.head.loop || this.clip.loop ? this.begin + ((next - this.begin) % (this.end - this.begin)) : this.begin;
      this.now = next;
      this.show();
    }
    if (this.dirty) this.draw();
  }

  // Everything at the time this.now.
  show() {
    const first = this.clip.first, last = first + this.clip.count - 1;
    const a = Math.min(Math.max(first, first + place(this.times.subarray(first, last + 1), this.now)), last), b = Math.min(a + 1, last);
    const w = b > a ? Math.min(1, Math.max(0, (this.now - this.times[a]) / (this.times[b] - this.times[a]))) : 0;
    this.spot = [a, b, w];
    for (const frame of this.moving) frame.moveTo(a, b, w);
    this.bodies.forEach((body, k) => {
      body.moveTo(a, b, w, this.amp);
      const mesh = this.meshes[k], uniforms = mesh.material.uniforms;
      if (mesh.userData.tube) mesh.userData.tube.moveTo(a, b, w);
      else {
        mesh.position.copy(body.position);
        mesh.quaternion.copy(body.quaternion);
      }
      uniforms.first.value = a;
      uniforms.second.value = b;
      uniforms.share.value = w;
      uniforms.amp.value = this.amp;
    });
    for (const symbol of this.symbols) symbol.moveTo(a, b, w);
    for (const arrow of this.arrows) arrow.moveTo(a, b, w, this.head.greatest_load[arrow.isTorque ? 1 : 0]);
    if (this.followed) {
      const middle = this.middle(this.followed), shift = middle.clone().sub(this.lastMiddle);
      this.camera.position.add(shift);
      this.orbit.target.add(shift);
      this.lastMiddle = middle;
      this.orbit.update();
    }
    const written = !this.playing || performance.now() - (this.writtenAt || 0) > 120;
    if (this.plots) for (const plot of this.plots) plot.moveTo(this.now, written);
    this.dirty = true;
    if (!written) return;
    this.writtenAt = performance.now();
    const share = this.end > this.begin ? (this.now - this.begin) / (this.end - this.begin) : 0;
    byId("time").value = String(Math.round(1000 * share));
    byId("time").setAttribute("aria-valuetext", `${short(this.now)} seconds`);
    byId("now").textContent = this.head.loop ? `${Math.round(360 * share)}°` : `${short(this.now)} s`;
  }

  // Other instants of the same model, as a live run sends them.
  receive(moved, block) {
    const array = arraysOf(moved.arrays, block), origins = array(moved.frames), turns = array(moved.frame_turns);
    this.times = array(moved.time).values;
    this.bodies.forEach((body, k) => {
      body.take(moved.bodies[k], array);
      if (!body.n) return;
      const { eta } = this.meshes[k].material.uniforms;
      eta.value.dispose();
      eta.value = tableTexture(body.eta.values, 1);
    });
    for (const frame of this.moving) Object.assign(frame, { origins, turns });
    this.arrows.forEach((arrow, k) => (arrow.values = array(moved.arrows[k])));
    this.begin = this.times[0];
    this.end = this.times[this.times.length - 1];
    this.goTo(this.end);
  }

  middle(body) {
    return body.node(Math.floor(body.nodeCount / 2), ...this.spot, new Vector3());
  }

  follow(value) {
    this.followed = value === "" ? null : this.bodies[Number(value)];
    if (this.followed) this.lastMiddle = this.middle(this.followed);
  }

  colourBy(value) {
    const field = value === "" ? null : this.head.fields[Number(value)];
    const bar = byId("bar");
    bar.hidden = !field;
    this.bodies.forEach((body, k) => {
      const own = field && body.fields.find((f) => f.name === field.name), uniforms = this.meshes[k].material.uniforms;
      uniforms.coloured.value = Boolean(own);
      if (own) {
        if (!own.texture) own.texture = tableTexture(own.values.values, 1, UnsignedByteType);
        uniforms.field.value = own.texture;
        uniforms.map.value = this.maps[field.map];
      }
      uniforms.color.value = srgb(field && !own ? "#b5b5b5" : body.color);
    });
    if (field) {
      const stops = field.map === "diverging" ? DIVERGING : SEQUENTIAL;
      byId("bar_colors").style.background = `linear-gradient(90deg, ${stops.join(",")})`;
      byId("bar_low").textContent = `${field.name} ${field.low === 0 ? "0" : withUnit(field.low, field.unit)}`;
      byId("bar_high").textContent = withUnit(field.high, field.unit);
      bar.setAttribute("aria-label", `${field.name} from ${short(field.low)} to ${short(field.high)} ${field.unit}`);
    }
    this.dirty = true;
  }

  toggleTrace(k) {
    if (this.traces.has(k)) {
      this.scene.remove(this.traces.get(k));
      this.traces.delete(k);
    } else {
      const point = this.head.points[k];
      const line = new Line(new BufferGeometry(), new LineBasicMaterial({ color: this.bodies[point.body].color }));
      line.frustumCulled = false;
      this.traces.set(k, line);
      this.scene.add(line);
    }
    this.redrawTraces();
  }

  redrawTraces() {
    if (!this.traces) return;
    const { first, count } = this.clip, spot = new Vector3();
    for (const [k, line] of this.traces) {
      const places = new Float32Array(3 * count);
      for (let i = 0; i < count; i++) this.pointAt(k, first + i, spot).toArray(places, 3 * i);
      line.geometry.setAttribute("position", new BufferAttribute(places, 3));
    }
    this.dirty = true;
  }

  // World position of a traced point at a stored frame.
  pointAt(k, frame, out = new Vector3()) {
    const point = this.head.points[k], body = this.bodies[point.body];
    const kept = [body.position.clone(), body.quaternion.clone(), body.amplitudes.slice()];
    body.moveTo(frame, frame, 0, this.amp);
    body.node(point.node, frame, frame, 0, out);
    body.position.copy(kept[0]);
    body.quaternion.copy(kept[1]);
    body.amplitudes.set(kept[2]);
    return out;
  }
}

// Inside of another page it is as high as its content, and that page is told how high.
if (window.parent !== window) {
  const root = document.documentElement, height = () => Math.ceil(root.getBoundingClientRect().height);
  root.dataset.framed = "yes";
  new ResizeObserver(() => window.parent.postMessage({ sender: "phlexible", height: height() }, "*")).observe(root);
}
window.report = new Report(readData(document));
if (window.report.head.stepped) window.report.stepped = new Stepped(window.report);
document.documentElement.dataset.ready = "yes";
