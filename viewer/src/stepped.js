// A live page: the model moves as its module of WebAssembly says, in the time of the clock; sliders and the mouse push.
import { BufferAttribute, BufferGeometry, Line, LineBasicMaterial, Matrix4, Quaternion, Vector3 } from "three";
import { picked, under } from "./grip.js";
import { short } from "./plots.js";
import { Anchor } from "./poses.js";
import { makeStepper, serve } from "./stepper.js";

const WINDOW = 8; // seconds of the clock in plots
const MOST = 1500; // instants in plots
const BUDGET = 40; // milliseconds of steps before a picture is drawn
const LATE = 0.9; // of the speed that was asked for
const OVER = 5; // of ph_status_code
const byId = (id) => document.getElementById(id);
const copied = (array) => array && { shape: array.shape, values: new Float32Array(array.values) };

export class Stepped {
  constructor(report) {
    const { head, array } = report, live = head.stepped;
    Object.assign(this, { report, live, time: live.start, wished: live.start, running: false, waits: false, reset: false });
    Object.assign(this, { given: new Map(), parameters: new Map(), held: null, pace: null, last: null, drawn: 0, failed: false });
    this.history = { times: [], values: [] };
    this.bodies = live.bodies.map((entry) => this.unpacked(entry, array));
    this.surfaces = live.surfaces.map(({ anchor }) => anchor && new Anchor(anchor, array, report.bodies, report.moving));
    this.prepare();
    this.controls();
    this.load(array(live.module).values);
    requestAnimationFrame((stamp) => this.tick(stamp));
  }

  unpacked({ nodes, carried }, array) {
    const values = (number) => (number === null ? null : array(number).values);
    if (!nodes) return { carried: { ...carried, shapes: values(carried.shapes) } };
    return { nodes: Object.fromEntries(Object.entries(nodes).map(([name, number]) => [name, values(number)])) };
  }

  // Numbers of bodies that look the same are one array of the page: here each moves by itself.
  prepare() {
    const { report } = this;
    for (const body of report.bodies) for (const name of ["origins", "turns", "eta", "places"]) body[name] = copied(body[name]);
    const frames = report.moving.length;
    this.origins = { shape: [1, frames, 3], values: new Float32Array(3 * frames) };
    this.turns = { shape: [1, frames, 4], values: new Float32Array(4 * frames) };
    for (const frame of report.moving) Object.assign(frame, { origins: this.origins, turns: this.turns });
    this.string = new Line(new BufferGeometry(), new LineBasicMaterial({ color: 0xb03a5b }));
    this.string.geometry.setAttribute("position", new BufferAttribute(new Float32Array(6), 3));
    this.string.frustumCulled = false;
    this.string.visible = false;
    report.scene.add(this.string);
  }

  async load(module) {
    const { array, head } = this.report, values = (number) => (number === null ? null : Array.from(array(number).values));
    const grips = this.live.grips.map((grip) => grip.carried
      ? { ...grip, carried: { ...grip.carried, shapes: values(grip.carried.shapes) } } : grip);
    const shown = head.panels.flatMap((panel) => panel.curves.map((curve) => curve.output));
    this.order = [...new Set(shown)];
    const { step, mass, outputs: sizes } = this.live, outputs = this.order.map((number) => ({ number, size: sizes[number] }));
    const layout = { step, mass, grips, outputs, dimension: head.dimension };
    const bytes = Uint8Array.from(module);
    try { // a page of a file has workers of its own text only
      const text = `const make = ${makeStepper};(${serve})(make);`;
      const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
      worker.onmessage = ({ data }) => (data.ready ? this.begin((what) => worker.postMessage(what)) : this.receive(data));
      worker.onerror = () => this.here(bytes, layout);
      worker.postMessage({ module: bytes, layout });
    } catch {
      await this.here(bytes, layout);
    }
  }

  // In the page itself, where there are no workers.
  async here(bytes, layout) {
    try {
      const { instance } = await WebAssembly.instantiate(bytes, {});
      const stepper = makeStepper(instance.exports, layout);
      this.begin((what) => setTimeout(() => this.receive(stepper.advance(what)), 0));
    } catch (error) {
      this.say(`This browser cannot run the model: ${error.message}`);
    }
  }

  begin(ask) {
    this.ask = ask;
    this.waits = false;
    if (!this.running) this.toggle();
  }

  controls() {
    const { report, live } = this, canvas = report.renderer.domElement, again = document.createElement("button");
    for (const id of ["time", "trace"]) (byId(id).closest("label") || byId(id)).hidden = true;
    const box = byId("rate"), rates = [...box.options].map((option) => Number(option.value));
    for (const slow of [0.005, 0.002, 0.001]) if (!rates.includes(slow)) box.prepend(new Option(`${slow} ×`, slow));
    report.rate = live.rate;
    box.value = live.rate;
    box.addEventListener("change", () => {
      this.isChosen = true;
      this.pace = null;
    });
    report.toggle = () => this.toggle();
    Object.assign(again, { type: "button", id: "again", textContent: "restart", title: "back to the start" });
    again.onclick = () => this.again();
    byId("play").after(again);
    byId("play").title = "runs, pauses (space)";
    if (live.inputs.length) {
      const rows = document.createElement("div");
      Object.assign(rows, { id: "inputs", className: "sliders" });
      for (const input of live.inputs) for (const k of input.shown) rows.append(this.slider(input, k));
      byId("controls").append(rows);
    }
    if (live.parameters.length) byId("controls").append(this.parameterSliders(live.parameters));
    const hint = document.createElement("p");
    Object.assign(hint, { className: "hint", textContent: "Pull at a body with the mouse; beside bodies it turns the view." });
    if (live.grips.length) byId("controls").append(hint);
    const frame = canvas.parentElement; // before the view turns
    frame.addEventListener("pointerdown", (event) => event.target === canvas && event.button === 0 && this.grab(event), true);
    frame.addEventListener("pointermove", (event) => this.held && this.drag(event), true);
    for (const name of ["pointerup", "pointercancel"]) frame.addEventListener(name, () => this.drop(), true);
  }

  slider(input, k) {
    const name = input.start.length > 1 ? `${input.name} ${"xyz"[k]}` : input.name, { unit, most } = input;
    return slider({ name, unit, low: -most, high: most, start: input.start[k], isOpen: true }, (value) => {
      const values = this.given.get(input.number) || [...input.start];
      values[k] = value;
      this.given.set(input.number, values);
    });
  }

  // Numbers of the model; those that move its start or joints begin the motion again.
  parameterSliders(parameters) {
    const rows = document.createElement("div"), usual = document.createElement("button");
    Object.assign(rows, { id: "parameters", className: "sliders" });
    for (const { name, unit, number, low, usual: start, high, tunable } of parameters) {
      rows.append(slider({ name, unit, low, high, start, waits: !tunable }, (value) => {
        this.parameters.set(number, value);
        if (tunable) this.isChanged = true;
        else this.again(false);
      }));
    }
    Object.assign(usual, { type: "button", id: "usual", textContent: "usual values", title: "of the parameters" });
    usual.onclick = () => {
      for (const label of rows.querySelectorAll("label")) label.restore();
      for (const { number, usual: start } of parameters) this.parameters.set(number, start);
      this.again(false);
    };
    rows.append(usual);
    return rows;
  }

  toggle() {
    if (this.failed) return;
    this.running = !this.running;
    byId("play").setAttribute("aria-label", this.running ? "pause" : "play");
    byId("play").textContent = this.running ? "❚❚" : "▶";
    this.last = this.pace = null;
  }

  again(isWhole = true) {
    this.reset = true;
    this.failed = false;
    if (isWhole) {
      this.given.clear();
      for (const label of byId("inputs")?.children || []) label.restore();
    }
    this.history = { times: [], values: [] };
    this.wished = this.live.start;
    this.say("");
    if (!this.running) this.toggle();
  }

  say(words) {
    byId("caption").textContent = words;
  }

  // The clock says up to when the model should be; it is asked for one stretch after the other.
  tick(stamp) {
    requestAnimationFrame((next) => this.tick(next));
    const passed = this.last === null ? 0 : Math.min(0.1, (stamp - this.last) / 1000);
    this.last = stamp;
    if (this.running) this.report.keepPace(passed);
    if (this.running) this.wished += passed * this.report.rate;
    if (!this.ask || this.waits || !(this.running || this.reset || this.isChanged)) return;
    this.waits = true;
    this.asked = { stamp, time: this.time };
    const held = this.held, pulling = held && { grip: held.grip, held: held.own, target: held.target.toArray(), rate: this.report.rate };
    this.ask({ to: this.wished, budget: BUDGET, samples: 4, given: [...this.given], parameters: [...this.parameters], pulling, reset: this.reset });
    this.reset = this.isChanged = false;
  }

  receive({ time, state, seen, status, words, late }) {
    this.waits = false;
    if (this.reset) return; // of a run that is over
    this.time = time;
    this.state = state;
    if (late) this.wished = time; // it goes on from here
    this.keep(seen);
    this.pose();
    if (status === OVER) return this.over();
    if (status) {
      if (this.running) this.toggle();
      this.failed = true;
      return this.say(`The step from t = ${short(time)} s fails: ${words}. "restart" begins again.`);
    }
    this.tellPace(time, late);
  }

  // Functions of time are known up to here: from the start again, with inputs as they are.
  over() {
    this.say("Functions of time end here.");
    this.running = false;
    setTimeout(() => !this.running && this.again(false), 1500);
  }

  // Steps that take longer than the clock gives: another speed, or words where the speed was chosen.
  tellPace(time, late) {
    const now = performance.now();
    if (!this.pace) this.pace = { now, time, late: 0 };
    this.pace.late += late;
    const passed = (now - this.pace.now) / 1000;
    if (passed < 1) return;
    const rate = (time - this.pace.time) / passed, isLate = this.pace.late > 3 && rate < LATE * this.report.rate;
    this.pace = { now, time, late: 0 };
    if (!isLate) return this.say("");
    const box = byId("rate"), slower = [...box.options].map((option) => Number(option.value)).filter((each) => each <= rate);
    if (this.isChosen || !slower.length) return this.say(`${rate.toPrecision(2)} × the clock: this machine takes no more steps`);
    box.value = this.report.rate = Math.max(...slower);
  }

  keep(seen) {
    const { times, values } = this.history, span = WINDOW * this.report.rate;
    for (const { time, values: row } of seen) {
      if (times.length && time <= times[times.length - 1]) continue;
      times.push(time);
      values.push(row);
    }
    let gone = Math.max(0, times.length - MOST);
    while (gone < times.length - 1 && times[gone] < this.time - span) gone++;
    times.splice(0, gone);
    values.splice(0, gone);
    const now = performance.now();
    if (now - this.drawn < 80 || !times.length) return;
    this.drawn = now;
    for (const plot of this.report.plots) {
      plot.take([...times], plot.panel.curves.map(({ output, component }) => {
        const place = this.order.indexOf(output);
        return values.map((row) => row[place][component]);
      }));
    }
  }

  // Bodies, moving frames and surfaces where the state has them.
  pose() {
    const { report, state: x, time } = this;
    this.bodies.forEach((entry, k) => {
      const body = report.bodies[k];
      if (entry.nodes) spread(entry.nodes, x, body.places.values);
      else carry(entry.carried, x, body, report.meshes[k]);
    });
    this.live.frames.forEach(({ functions }, k) => {
      const now = functions.map((f) => valueOf(f, time));
      this.origins.values.set(now.slice(0, 3), 3 * k);
      turnOf(now, 3).toArray(this.turns.values, 4 * k);
    });
    report.times = Float64Array.of(time);
    report.begin = report.end = time;
    report.now = time;
    report.show(); // anchors of surfaces are where it puts bodies
    const first = report.bodies.length - this.surfaces.length;
    let carried = false;
    this.surfaces.forEach((anchor, k) => {
      if (!anchor || !(anchor.body || anchor.frame)) return;
      const body = report.bodies[first + k], place = anchor.position(0, 0, 0, new Vector3());
      const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)].map((e) => anchor.direction(e, new Vector3()));
      place.toArray(body.origins.values);
      new Quaternion().setFromRotationMatrix(new Matrix4().makeBasis(...axes)).toArray(body.turns.values);
      carried = true;
    });
    if (carried) report.show();
    this.drawString();
    this.widen();
  }

  // The view reaches as far as bodies go, until somebody turns it.
  widen() {
    const { head } = this.report, spot = new Vector3();
    let wider = false;
    this.report.bodies.forEach((body, k) => {
      if (k >= this.bodies.length) return;
      for (const node of [0, Math.floor(body.nodeCount / 2), body.nodeCount - 1]) {
        body.node(node, 0, 0, 0, spot).toArray().forEach((v, i) => {
          const room = 0.05 * head.size;
          if (v < head.low[i] - room) head.low[i] = v - 2 * room, wider = true;
          if (v > head.high[i] + room) head.high[i] = v + 2 * room, wider = true;
        });
      }
    });
    if (!wider || this.report.touched) return;
    head.size = Math.max(...head.high.map((v, i) => v - head.low[i]));
    this.report.camera.far = 100 * head.size;
    this.report.camera.updateProjectionMatrix();
    this.report.home();
  }

  // The mouse holds a body.
  grab(event) {
    const { report } = this, found = this.state && picked(report, event);
    const grips = found ? this.live.grips.map((grip, k) => [grip, k]).filter(([grip]) => grip.body === found.body) : [];
    if (!grips.length) return;
    const where = grips.map(([grip, k]) => [k, this.placeOf(grip).distanceTo(found.point), grip]);
    const [k, , grip] = where.reduce((a, b) => (b[1] < a[1] ? b : a)), body = report.bodies[found.body];
    const start = this.placeOf(grip), isFree = grip.torque !== null;
    const own = isFree ? found.point.clone().sub(start).applyQuaternion(body.quaternion.clone().invert()).toArray() : null;
    const through = isFree ? found.point : start;
    this.held = { grip: k, own, through, shift: through.clone().sub(found.point), target: through.clone() };
    report.orbit.enabled = false;
    report.renderer.domElement.setPointerCapture(event.pointerId);
    report.renderer.domElement.style.cursor = "grabbing";
  }

  drag(event) {
    const { held } = this;
    held.target.copy(under(this.report, event, held.through));
    if (this.report.head.dimension === 2) held.target.z = held.through.z;
    this.drawString();
  }

  drop() {
    if (!this.held) return;
    this.held = null;
    this.report.orbit.enabled = true;
    this.report.renderer.domElement.style.cursor = "";
    this.drawString();
  }

  placeOf(grip) {
    const place = new Vector3(), x = this.state;
    if (grip.sum) {
      const out = [0, 0, 0];
      spread(grip.sum, x, out);
      return place.fromArray(out);
    }
    const { array } = this.report, shapes = grip.carried.shapes === null ? null : array(grip.carried.shapes).values;
    return localPoint({ ...grip.carried, shapes }, x, place).applyQuaternion(turnOf(x, grip.carried.rotation)).add(new Vector3().fromArray(x, grip.carried.place));
  }

  drawString() {
    const { held, string } = this;
    string.visible = Boolean(held);
    this.report.dirty = true;
    if (!held || !this.state) return;
    const grip = this.live.grips[held.grip], from = this.placeOf(grip), places = string.geometry.getAttribute("position");
    if (held.own) from.add(new Vector3(...held.own).applyQuaternion(this.report.bodies[grip.body].quaternion));
    places.setXYZ(0, ...from.toArray());
    places.setXYZ(1, ...held.target.toArray());
    places.needsUpdate = true;
  }
}

// A slider with a field beside it; ``isOpen``: any number can be typed, ``waits``: it counts once the mouse lets go.
function slider({ name, unit, low, high, start, isOpen, waits }, set) {
  const label = document.createElement("label"), slide = document.createElement("input"), field = document.createElement("input");
  Object.assign(slide, { type: "range", min: low, max: high, step: "any", value: start });
  Object.assign(field, { type: "number", step: "any", value: start });
  const within = (value) => (isOpen ? value : Math.min(high, Math.max(low, value)));
  slide.setAttribute("aria-label", name);
  field.setAttribute("aria-label", unit ? `${name} in ${unit}` : name);
  slide.addEventListener("input", () => {
    field.value = within(Number(Number(slide.value).toPrecision(4)));
    if (!waits) set(Number(field.value));
  });
  if (waits) slide.addEventListener("change", () => set(Number(field.value)));
  field.addEventListener("change", () => {
    if (!Number.isFinite(Number(field.value))) return;
    const value = within(Number(field.value));
    slide.min = Math.min(slide.min, value);
    slide.max = Math.max(slide.max, value);
    slide.value = field.value = value;
    set(value);
  });
  label.restore = () => (slide.value = field.value = start);
  const words = document.createElement("span");
  words.textContent = name;
  label.append(words, slide, field, unit);
  return label;
}

// Rows of a rotation among numbers.
function turnOf(x, first) {
  const m = new Matrix4().set(x[first], x[first + 1], x[first + 2], 0, x[first + 3], x[first + 4], x[first + 5], 0, x[first + 6], x[first + 7], x[first + 8], 0, 0, 0, 0, 1);
  return new Quaternion().setFromRotationMatrix(m);
}

function localPoint({ eta, point, shapes }, x, out) {
  out.fromArray(point);
  for (let j = 0; shapes && 3 * j < shapes.length; j++) {
    out.x += x[eta + j] * shapes[3 * j];
    out.y += x[eta + j] * shapes[3 * j + 1];
    out.z += x[eta + j] * shapes[3 * j + 2];
  }
  return out;
}

// A body with a frame: its origin, turn and elastic coordinates.
function carry(entry, x, body, mesh) {
  const turn = turnOf(x, entry.rotation), origin = localPoint(entry, x, new Vector3()).applyQuaternion(turn);
  origin.add(new Vector3().fromArray(x, entry.place)).toArray(body.origins.values);
  turn.toArray(body.turns.values);
  if (!body.n) return;
  const texture = mesh.material.uniforms.eta.value;
  for (let j = 0; j < body.n; j++) body.eta.values[j] = texture.image.data[j] = x[entry.eta + j];
  texture.needsUpdate = true;
}

// Sums of numbers.
function spread({ base, starts, numbers, weights }, x, out) {
  for (let i = 0; i < base.length; i++) {
    let sum = base[i];
    for (let k = starts[i]; k < starts[i + 1]; k++) sum += weights[k] * x[numbers[k]];
    out[i] = sum;
  }
}

// A function of time as the library has it.
function valueOf({ waves, pieces }, t) {
  let found = 0;
  for (const [w, c, s] of waves) found += c * Math.cos(w * t) + s * Math.sin(w * t);
  if (!pieces.length) return found;
  let low = 0, high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pieces[middle][0] <= t) low = middle;
    else high = middle - 1;
  }
  const [begin, scale, numbers] = pieces[low], u = (t - begin) * scale;
  return found + numbers.reduceRight((sum, a) => sum * u + a, 0);
}
