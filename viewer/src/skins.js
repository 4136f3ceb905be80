// Surfaces that are deformed in the vertex shader: displacement and small rotation of the node that carries a vertex
// are sums of shapes times elastic coordinates.
import {
  BufferAttribute, BufferGeometry, Color, DataTexture, DoubleSide, FloatType, GLSL3, LinearFilter, LineSegments, Mesh, NearestFilter,
  RedFormat, RGBAFormat, ShaderMaterial, UnsignedByteType, Vector3,
} from "three";

const WIDE = 2048; // texels in a row of a table

const VERTEX = `
precision highp float; precision highp sampler2D;
in float node; in vec3 offset;
uniform sampler2D table; uniform sampler2D eta; uniform sampler2D field;
uniform int n; uniform int nodes; uniform int first; uniform int second; uniform float share; uniform float amp;
uniform bool coloured; uniform bool carried; uniform float nearer;
out vec3 facing; out float value;
vec4 fetch(sampler2D t, int index) { return texelFetch(t, ivec2(index % ${WIDE}, index / ${WIDE}), 0); }
void main() {
  vec3 place = position, turned = normal;
  if (carried) {
    int row = int(node) * (2 * n + 1);
    vec3 u = vec3(0.0), turn = vec3(0.0);
    for (int j = 0; j < n; j++) {
      float e = amp * mix(fetch(eta, first * n + j).r, fetch(eta, second * n + j).r, share);
      u += e * fetch(table, row + 2 * j).xyz;
      turn += e * fetch(table, row + 2 * j + 1).xyz;
    }
    place = fetch(table, row + 2 * n).xyz + u + offset + cross(turn, offset);
    turned = normal + cross(turn, normal);
  }
  value = 0.0;
  if (coloured) {
    value = mix(fetch(field, first * nodes + int(node)).r, fetch(field, second * nodes + int(node)).r, share);
  }
  facing = normalize(normalMatrix * turned);
  vec4 seen = modelViewMatrix * vec4(place, 1.0);
  seen.xyz *= 1.0 - nearer; // edges lie before their surface
  gl_Position = projectionMatrix * seen;
}`;

const FRAGMENT = `
precision highp float; precision highp sampler2D;
in vec3 facing; in float value; out vec4 painted;
uniform vec3 color; uniform bool coloured; uniform sampler2D map; uniform float opacity;
void main() {
  vec3 n = normalize(gl_FrontFacing ? facing : -facing);
  vec3 base = coloured ? texture(map, vec2(clamp(value, 0.0, 1.0), 0.5)).rgb : color;
  float key = max(dot(n, normalize(vec3(0.3, 0.75, 0.65))), 0.0), fill = 0.5 + 0.5 * n.y;
  vec3 lit = base * (0.5 + 0.22 * fill + 0.4 * key) + 0.06 * pow(key, 16.0);
  painted = vec4(lit, opacity);
}`;

const EDGE = `
precision highp float;
out vec4 painted;
uniform vec3 color;
void main() { painted = vec4(0.35 * color, 0.75); }`;
const NEARER = 0.001;

export function tableTexture(values, stride, kind = FloatType) {
  const count = values.length / stride, height = Math.max(1, Math.ceil(count / WIDE));
  const channels = stride === 3 ? 4 : stride;
  const Kind = kind === FloatType ? Float32Array : Uint8Array;
  const padded = new Kind(WIDE * height * channels);
  for (let i = 0; i < count; i++) for (let c = 0; c < stride; c++) padded[channels * i + c] = values[stride * i + c];
  const texture = new DataTexture(padded, WIDE, height, channels === 1 ? RedFormat : RGBAFormat, kind);
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.unpackAlignment = 1;
  texture.needsUpdate = true;
  return texture;
}

export function colorMap(stops) {
  const data = new Uint8Array(256 * 4), color = new Color();
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2);
    color.set(stops[k]).lerp(new Color(stops[k + 1]), at - k);
    color.convertLinearToSRGB();
    data.set([255 * color.r, 255 * color.g, 255 * color.b, 255], 4 * i);
  }
  const texture = new DataTexture(data, 256, 1, RGBAFormat, UnsignedByteType);
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

export class Skin {
  constructor(entry, array) {
    this.table = array(entry.table);
    this.nodeCount = entry.nodes;
    this.n = entry.n;
    const nodes = array(entry.vertex_nodes), offsets = array(entry.offsets), normals = array(entry.normals);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(offsets.values), 3));
    geometry.setAttribute("offset", new BufferAttribute(new Float32Array(offsets.values), 3));
    geometry.setAttribute("normal", new BufferAttribute(new Float32Array(normals.values), 3));
    geometry.setAttribute("node", new BufferAttribute(Float32Array.from(nodes.values), 1));
    geometry.setIndex(new BufferAttribute(new Uint32Array(array(entry.triangles).values), 1));
    this.geometry = geometry;
    const edges = array(entry.edges);
    if (edges) {
      this.edges = new BufferGeometry();
      for (const name of ["position", "offset", "normal", "node"]) this.edges.setAttribute(name, geometry.getAttribute(name));
      this.edges.setIndex(new BufferAttribute(new Uint32Array(edges.values), 1));
    }
    this.texture = tableTexture(this.table.values, 3);
  }
}

const NOTHING = tableTexture(new Float32Array([0]), 1);

export function material(color, extra = {}) {
  return new ShaderMaterial({
    glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: DoubleSide,
    uniforms: {
      table: { value: NOTHING }, eta: { value: NOTHING }, field: { value: NOTHING }, map: { value: NOTHING },
      n: { value: 0 }, nodes: { value: 0 }, first: { value: 0 }, second: { value: 0 }, share: { value: 0 },
      amp: { value: 1 }, coloured: { value: false }, carried: { value: false }, opacity: { value: 1 },
      nearer: { value: 0 }, color: { value: srgb(color) }, ...extra,
    },
  });
}

export function srgb(color) {
  const c = new Color(color).convertLinearToSRGB();
  return new Vector3(c.r, c.g, c.b);
}

export function bodyMesh(body) {
  const look = material(body.color, {
    table: { value: body.skin.texture },
    eta: { value: body.n ? tableTexture(body.eta.values, 1) : NOTHING },
    n: { value: body.n }, nodes: { value: body.nodeCount }, carried: { value: true },
  });
  if (body.kind === "Surface") { // what bodies touch, and are seen behind
    look.uniforms.opacity.value = 0.3;
    look.transparent = true;
    look.depthWrite = false;
  }
  const mesh = new Mesh(body.skin.geometry, look);
  mesh.frustumCulled = false;
  if (body.skin.edges) mesh.add(edgeLines(body.skin.edges, look));
  return mesh;
}

// They move with the surface, whose numbers they share.
function edgeLines(geometry, look) {
  const lines = new LineSegments(geometry, new ShaderMaterial({
    glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: EDGE, transparent: true,
    uniforms: { ...look.uniforms, nearer: { value: NEARER } },
  }));
  lines.frustumCulled = false;
  return lines;
}

const SIDES = 8;

// A string: rings along its nodes, made anew for every frame.
export class StringTube {
  constructor(body, radius) {
    this.body = body;
    this.radius = radius;
    const N = body.nodeCount, geometry = new BufferGeometry();
    this.positions = new BufferAttribute(new Float32Array(3 * N * SIDES), 3);
    this.normals = new BufferAttribute(new Float32Array(3 * N * SIDES), 3);
    geometry.setAttribute("position", this.positions);
    geometry.setAttribute("normal", this.normals);
    geometry.setAttribute("offset", this.positions);
    geometry.setAttribute("node", new BufferAttribute(Float32Array.from({ length: N * SIDES }, (_, i) => Math.floor(i / SIDES)), 1));
    const index = [];
    for (let k = 0; k + 1 < N; k++) {
      for (let s = 0; s < SIDES; s++) {
        const t = (s + 1) % SIDES, a = k * SIDES, b = a + SIDES;
        index.push(a + s, a + t, b + t, a + s, b + t, b + s);
      }
    }
    geometry.setIndex(index);
    this.mesh = new Mesh(geometry, material(body.color, { nodes: { value: N } }));
    this.mesh.frustumCulled = false;
    this.places = Array.from({ length: N }, () => new Vector3());
  }

  moveTo(a, b, w) {
    const N = this.places.length, along = new Vector3(), side = new Vector3(), up = new Vector3(), spot = new Vector3();
    for (let k = 0; k < N; k++) this.body.stringNode(k, a, b, w, this.places[k]);
    for (let k = 0; k < N; k++) {
      along.subVectors(this.places[Math.min(k + 1, N - 1)], this.places[Math.max(k - 1, 0)]).normalize();
      if (k === 0) side.set(Math.abs(along.x) < 0.7 ? 1 : 0, Math.abs(along.x) < 0.7 ? 0 : 1, 0);
      side.addScaledVector(along, -side.dot(along)).normalize();
      up.crossVectors(along, side);
      for (let s = 0; s < SIDES; s++) {
        const angle = (2 * Math.PI * s) / SIDES;
        spot.copy(side).multiplyScalar(Math.cos(angle)).addScaledVector(up, Math.sin(angle));
        const i = SIDES * k + s;
        this.normals.setXYZ(i, spot.x, spot.y, spot.z);
        spot.multiplyScalar(this.radius).add(this.places[k]);
        this.positions.setXYZ(i, spot.x, spot.y, spot.z);
      }
    }
    this.positions.needsUpdate = this.normals.needsUpdate = true;
  }
}

// A soft body: triangles between nodes that move one by one, their normals made anew for every frame.
export class SoftSurface {
  constructor(body) {
    this.body = body;
    const N = body.nodeCount, geometry = new BufferGeometry();
    this.positions = new BufferAttribute(new Float32Array(3 * N), 3);
    geometry.setAttribute("position", this.positions);
    geometry.setAttribute("offset", this.positions);
    geometry.setAttribute("node", new BufferAttribute(Float32Array.from({ length: N }, (_, k) => k), 1));
    geometry.setIndex(new BufferAttribute(new Uint32Array(body.triangles.values), 1));
    this.mesh = new Mesh(geometry, material(body.color, { nodes: { value: N } }));
    this.mesh.frustumCulled = false;
    this.spot = new Vector3();
  }

  moveTo(a, b, w) {
    for (let k = 0; k < this.body.nodeCount; k++) {
      this.body.stringNode(k, a, b, w, this.spot);
      this.positions.setXYZ(k, this.spot.x, this.spot.y, this.spot.z);
    }
    this.positions.needsUpdate = true;
    this.mesh.geometry.computeVertexNormals();
  }
}
