// Where bodies are between two frames, and where their nodes and ports are; the same formulas as in Python.
import { Quaternion, Vector3 } from "three";

export class Body {
  constructor(entry, array, skin) {
    this.name = entry.name;
    this.kind = entry.kind;
    this.color = entry.color;
    this.whole = entry.whole;
    this.skin = skin;
    this.isString = entry.places !== null;
    this.take(entry, array);
    this.triangles = array(entry.triangles); // of a soft body: between its places
    this.n = this.eta ? this.eta.shape[1] : 0;
    this.fields = entry.fields.map((f) => ({ ...f, values: array(f.values) }));
    this.position = new Vector3();
    this.quaternion = new Quaternion();
    this.amplitudes = new Float32Array(this.n);
  }

  // Where it is at all frames.
  take(entry, array) {
    for (const name of ["origins", "turns", "eta", "places"]) this[name] = array(entry[name]);
  }

  // Pose and elastic coordinates at frame a + w; amp enlarges deformations.
  moveTo(a, b, w, amp) {
    if (this.isString) return;
    const o = this.origins.values, q = this.turns.values;
    this.position.set(
      o[3 * a] + w * (o[3 * b] - o[3 * a]),
      o[3 * a + 1] + w * (o[3 * b + 1] - o[3 * a + 1]),
      o[3 * a + 2] + w * (o[3 * b + 2] - o[3 * a + 2]),
    );
    this.quaternion.fromArray(q, 4 * a).normalize();
    if (w > 0) this.quaternion.slerp(OTHER.fromArray(q, 4 * b).normalize(), w);
    const e = this.n ? this.eta.values : null;
    for (let j = 0; j < this.n; j++) {
      const first = e[this.n * a + j];
      this.amplitudes[j] = amp * (first + w * (e[this.n * b + j] - first));
    }
  }

  // World position of a node of a string at frame a + w.
  stringNode(k, a, b, w, out) {
    const p = this.places.values, N = this.places.shape[1];
    const i = 3 * (N * a + k), j = 3 * (N * b + k);
    return out.set(p[i] + w * (p[j] - p[i]), p[i + 1] + w * (p[j + 1] - p[i + 1]), p[i + 2] + w * (p[j + 2] - p[i + 2]));
  }

  // World position of a node of the skin as the body is now.
  node(k, a, b, w, out) {
    if (this.isString) return this.stringNode(k, a, b, w, out);
    const t = this.skin.table.values, row = 3 * (2 * this.n + 1) * k;
    out.set(t[row + 6 * this.n], t[row + 6 * this.n + 1], t[row + 6 * this.n + 2]);
    for (let j = 0; j < this.n; j++) {
      const e = this.amplitudes[j];
      out.x += e * t[row + 6 * j];
      out.y += e * t[row + 6 * j + 1];
      out.z += e * t[row + 6 * j + 2];
    }
    return out.applyQuaternion(this.quaternion).add(this.position);
  }

  get nodeCount() {
    return this.isString ? this.places.shape[1] : this.skin.nodeCount;
  }
}

const OTHER = new Quaternion();
const EXTRA = new Vector3();

// A port: a point of a body, of a moving frame or of the world.
export class Anchor {
  constructor(entry, array, bodies, frames) {
    this.body = entry.body === null ? null : bodies[entry.body];
    this.frame = entry.frame === null ? null : frames[entry.frame];
    this.point = new Vector3().fromArray(entry.point);
    this.shapes = array(entry.shapes); // (n, 6): displacement and turn for each coordinate
    this.stringNodes = entry.nodes; // of a string: node numbers and weights
  }

  position(a, b, w, out) {
    if (this.stringNodes) {
      out.set(0, 0, 0);
      for (const [k, weight] of this.stringNodes) out.addScaledVector(this.body.stringNode(k, a, b, w, EXTRA), weight);
      return out;
    }
    out.copy(this.point);
    if (this.body) {
      this.elastic(0, out);
      return out.applyQuaternion(this.body.quaternion).add(this.body.position);
    }
    if (this.frame) return out.applyQuaternion(this.frame.quaternion).add(this.frame.position);
    return out;
  }

  // An axis of the port in the world.
  direction(axis, out) {
    out.copy(axis);
    if (this.body && !this.stringNodes) {
      const turn = this.elastic(3, new Vector3());
      out.add(turn.cross(axis));
      return out.applyQuaternion(this.body.quaternion).normalize();
    }
    return this.frame ? out.applyQuaternion(this.frame.quaternion) : out;
  }

  elastic(first, out) {
    if (!this.shapes || !this.body) return out;
    const s = this.shapes.values;
    for (let j = 0; j < this.body.n; j++) {
      const e = this.body.amplitudes[j];
      out.x += e * s[6 * j + first];
      out.y += e * s[6 * j + first + 1];
      out.z += e * s[6 * j + first + 2];
    }
    return out;
  }
}

export class Frame {
  constructor(index, origins, turns) {
    Object.assign(this, { index, origins, turns, position: new Vector3(), quaternion: new Quaternion() });
  }

  moveTo(a, b, w) {
    const f = this.origins.shape[1], o = this.origins.values, q = this.turns.values;
    const i = f * a + this.index, j = f * b + this.index;
    this.position.fromArray(o, 3 * i).lerp(EXTRA.fromArray(o, 3 * j), w);
    this.quaternion.fromArray(q, 4 * i).normalize().slerp(OTHER.fromArray(q, 4 * j).normalize(), w);
  }
}
