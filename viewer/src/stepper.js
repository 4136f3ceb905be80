// Steps the WebAssembly module of a model. Its text is also the program of a worker: it needs nothing from outside.
export function makeStepper(ph, { step, grips, outputs, mass: total, dimension }) {
  const begin = ph.__heap_base.value, size = ph.ph_size() + 64, stateSize = ph.ph_state_size();
  const saved = begin + Math.ceil(size / 64) * 64, numbers = saved + Math.ceil(stateSize / 64) * 64;
  ph.memory.grow(Math.ceil((numbers + 1024 - ph.memory.buffer.byteLength) / 65536) + 1);
  const model = ph.ph_place(begin), count = stateSize / 8;
  const few = (n) => new Float64Array(ph.memory.buffer, numbers, n);
  const STIFFEST = 0.05, DAMPING = 0.6; // of the mass over the square of the step; of the critical one
  let perStep = 1, blocked = 1, pulled = null, before = null;

  function text(address) {
    const bytes = new Uint8Array(ph.memory.buffer);
    let end = address;
    while (bytes[end]) end++;
    return String.fromCharCode(...bytes.subarray(address, end));
  }

  // The numbers of the model come first.
  function state() {
    ph.ph_save(model, saved);
    return new Float64Array(ph.memory.buffer, saved, count);
  }

  function setInput(number, values) {
    few(values.length).set(values);
    return ph.ph_set_input(model, number, numbers);
  }

  function read() {
    return outputs.map(({ number, size }) => {
      ph.ph_get_output(model, number, numbers);
      return Array.from(few(size));
    });
  }

  // Where a grip is; of a rigid body the point of it that is held, which is away by "arm" from the grip.
  function placed(grip, held, x) {
    if (grip.sum) {
      const { base, starts, numbers: where, weights } = grip.sum, place = [...base];
      for (let i = 0; i < 3; i++) for (let k = starts[i]; k < starts[i + 1]; k++) place[i] += weights[k] * x[where[k]];
      return { place, arm: [0, 0, 0] };
    }
    const { place: first, rotation: turn, eta, point, shapes } = grip.carried, n = shapes ? shapes.length / 3 : 0;
    const own = [...point];
    for (let j = 0; j < n; j++) for (let i = 0; i < 3; i++) own[i] += x[eta + j] * shapes[3 * j + i];
    const turned = (v) => [0, 1, 2].map((i) => x[turn + 3 * i] * v[0] + x[turn + 3 * i + 1] * v[1] + x[turn + 3 * i + 2] * v[2]);
    const at = turned(own), arm = held ? turned(held) : [0, 0, 0];
    return { place: [0, 1, 2].map((i) => x[first + i] + at[i] + arm[i]), arm };
  }

  // A spring between a body and the mouse, its force held over a step.
  function pull({ grip: number, held, target, rate }) {
    const grip = grips[number], { place, arm } = placed(grip, held, state());
    const speed = before && pulled === number ? place.map((v, i) => (v - before[i]) / step) : [0, 0, 0];
    const mass = Math.max(grip.mass, 0.25 * total), wished = (9 / rate) ** 2 * mass;
    const stiffness = Math.min(wished, (STIFFEST * grip.mass) / step ** 2), damping = DAMPING * Math.sqrt(stiffness * grip.mass);
    const force = place.map((v, i) => stiffness * (target[i] - v) - damping * speed[i]);
    if (dimension === 2) force[2] = 0;
    release(number);
    setInput(grip.force, force);
    if (grip.torque !== null) {
      const moment = [0, 1, 2].map((i) => arm[(i + 1) % 3] * force[(i + 2) % 3] - arm[(i + 2) % 3] * force[(i + 1) % 3]);
      setInput(grip.torque, dimension === 2 ? [0, 0, moment[2]] : moment);
    }
    pulled = number;
    before = place;
  }

  function release(but = null) {
    if (pulled === null || pulled === but) return;
    setInput(grips[pulled].force, [0, 0, 0]);
    if (grips[pulled].torque !== null) setInput(grips[pulled].torque, [0, 0, 0]);
    pulled = before = null;
  }

  // Steps up to a time, at most so many milliseconds; what the page draws then.
  function advance({ to, budget, samples, given, parameters, pulling, reset }) {
    const started = performance.now(), seen = [];
    if (reset) {
      ph.ph_reset(model);
      pulled = before = null;
    }
    for (const [number, value] of parameters) ph.ph_set_parameter(model, number, value);
    for (const [number, values] of given) setInput(number, values);
    if (!pulling) release();
    let left = Math.max(0, Math.floor((to - ph.ph_time(model)) / step + 1e-6)), status = 0, taken = 0;
    const every = Math.max(1, Math.ceil(left / samples));
    while (left > 0 && status === 0) {
      const from = performance.now(), now = pulling ? 1 : Math.min(left, every, blocked);
      if (pulling) pull(pulling);
      status = ph.ph_step(model, now);
      const took = performance.now() - from;
      perStep = Math.max(1e-4, 0.8 * perStep + (0.2 * took) / now);
      blocked = Math.max(1, Math.min(2 * blocked, Math.floor(4 / perStep)));
      left -= now;
      taken += now;
      if (status === 0 && taken % every < now) seen.push({ time: ph.ph_time(model), values: read() });
      if (performance.now() - started > budget) break;
    }
    if (!seen.length || seen.at(-1).time !== ph.ph_time(model)) seen.push({ time: ph.ph_time(model), values: read() });
    const words = status ? text(ph.ph_message(status)) : "";
    return { time: ph.ph_time(model), state: state().slice(), seen, status, words, late: left > 0 };
  }

  return { advance };
}

// In a worker: the module comes first, then what is asked for.
export function serve(make) {
  let stepper = null;
  self.onmessage = async ({ data }) => {
    if (data.module) {
      const { instance } = await WebAssembly.instantiate(data.module, {});
      stepper = make(instance.exports, data.layout);
      self.postMessage({ ready: true });
    } else self.postMessage(stepper.advance(data));
  };
}
