// Small symbols of joints, ground, springs and drives, and arrows of loads. They scale with the scene.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, ConeGeometry, CylinderGeometry, Group, Line, LineBasicMaterial, Mesh,
  SphereGeometry, TorusGeometry, Vector3,
} from "three";
import { material } from "./skins.js";

const UP = new Vector3(0, 1, 0), SIDE = new Vector3(0, 0, 1);
const INK = "#3c3c3c", LIGHT = "#f2f2f2", QUIET = "#9a9a9a";

const SHAPES = {
  ground: (s) => [new ConeGeometry(1.1 * s, 1.5 * s, 4), QUIET, UP],
  "moving frame": (s) => [new BoxGeometry(1.3 * s, 1.3 * s, 1.3 * s), QUIET, UP],
  fixed: (s) => [new BoxGeometry(0.9 * s, 0.9 * s, 0.9 * s), INK, UP],
  revolute: (s) => [new CylinderGeometry(0.55 * s, 0.55 * s, 2.4 * s, 20), LIGHT, UP],
  spherical: (s) => [new SphereGeometry(0.75 * s, 20, 12), INK, UP],
  universal: (s) => [new TorusGeometry(0.7 * s, 0.25 * s, 8, 20), LIGHT, SIDE],
  planar: (s) => [new CylinderGeometry(1.6 * s, 1.6 * s, 0.15 * s, 24), LIGHT, UP],
  bushing: (s) => [new CylinderGeometry(0.9 * s, 0.9 * s, 0.9 * s, 6), QUIET, UP],
  motor: (s) => [new TorusGeometry(1.25 * s, 0.22 * s, 8, 28), "#c9a227", SIDE],
  "torsion spring": (s) => [new TorusGeometry(1.0 * s, 0.16 * s, 8, 28, 5.2), "#8e4a9e", SIDE],
};
const COILS = 9;

export class Symbol3D {
  constructor(entry, anchor, other, size, reach, up) {
    Object.assign(this, { kind: entry.kind, label: entry.label, anchor, other, size, reach, up });
    this.axis = new Vector3().fromArray(entry.axis);
    this.hasAxis = this.axis.lengthSq() > 0;
    this.object = new Group();
    this.object.userData.label = entry.label;
    const shape = SHAPES[entry.kind];
    if (shape) {
      const [geometry, color, along] = shape(size);
      this.along = along;
      this.object.add(new Mesh(geometry, material(color)));
    } else if (entry.kind === "slider") {
      const rail = new CylinderGeometry(0.14 * size, 0.14 * size, 1, 8);
      this.object.add(new Mesh(rail, material(QUIET)));
      this.along = UP;
    } else {
      const look = new LineBasicMaterial({ color: entry.kind === "damper" ? "#3aa5b8" : "#7a7a7a" });
      this.points = entry.kind === "spring" ? 12 * COILS + 1 : 2;
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * this.points), 3));
      this.object.add(new Line(geometry, look));
      this.object.children[0].frustumCulled = false;
    }
  }

  moveTo(a, b, w) {
    const place = this.anchor.position(a, b, w, new Vector3());
    if (this.points) return this.stretch(place, this.other.position(a, b, w, new Vector3()));
    this.object.position.copy(place);
    if (this.kind === "ground") {
      this.object.position.addScaledVector(this.up, -0.75 * this.size);
      this.object.quaternion.setFromUnitVectors(UP, this.up);
    }
    if (this.hasAxis) {
      const axis = this.anchor.direction(this.axis, new Vector3());
      this.object.quaternion.setFromUnitVectors(this.along, axis);
      if (this.kind === "slider") this.alongRail(place, axis, a, b, w);
    }
  }

  // A rail reaches a little beyond where the slider is, and at least some way around its middle.
  alongRail(place, axis, a, b, w) {
    const reach = this.other.position(a, b, w, new Vector3()).sub(place).dot(axis);
    const half = Math.max(Math.abs(reach) + 0.1 * this.reach, 0.25 * this.reach);
    this.object.scale.set(1, 2 * half, 1);
  }

  stretch(from, to) {
    const along = new Vector3().subVectors(to, from), length = along.length() || 1;
    const side = new Vector3(Math.abs(along.x) < 0.7 * length ? 1 : 0, Math.abs(along.x) < 0.7 * length ? 0 : 1, 0);
    side.addScaledVector(along, -side.dot(along) / length ** 2).normalize();
    const up = new Vector3().crossVectors(along, side).divideScalar(length), out = this.object.children[0].geometry;
    const places = out.getAttribute("position"), spot = new Vector3();
    for (let i = 0; i < this.points; i++) {
      const share = i / (this.points - 1);
      spot.copy(from).addScaledVector(along, share);
      if (this.points > 2) {
        const swell = Math.min(1, 12 * Math.min(share, 1 - share)), angle = 2 * Math.PI * COILS * share;
        spot.addScaledVector(side, 0.8 * this.size * swell * Math.cos(angle));
        spot.addScaledVector(up, 0.8 * this.size * swell * Math.sin(angle));
      }
      places.setXYZ(i, spot.x, spot.y, spot.z);
    }
    places.needsUpdate = true;
  }
}

export class LoadArrow {
  constructor(entry, anchor, values, size, reach) {
    Object.assign(this, { label: entry.label, anchor, values, reach, isTorque: entry.is_torque, size });
    this.object = new Group();
    const look = material("#b03a5b");
    if (this.isTorque) {
      this.object.add(new Mesh(new TorusGeometry(1.5 * size, 0.2 * size, 8, 28, 4.7), look));
      const tip = new Mesh(new ConeGeometry(0.5 * size, 1.0 * size, 12), look);
      tip.position.set(1.5 * size * Math.cos(4.7), 1.5 * size * Math.sin(4.7), 0);
      tip.rotation.z = 4.7;
      this.object.add(tip);
    } else {
      this.shaft = new Mesh(new CylinderGeometry(0.16 * size, 0.16 * size, 1, 10), look);
      this.tip = new Mesh(new ConeGeometry(0.5 * size, 1.2 * size, 14), look);
      this.object.add(this.shaft, this.tip);
    }
  }

  moveTo(a, b, w, greatest) {
    const v = this.values.values, value = new Vector3().fromArray(v, 3 * a).lerp(new Vector3().fromArray(v, 3 * b), w);
    const strength = value.length() / greatest;
    this.object.visible = strength > 0.01;
    if (!this.object.visible) return;
    this.anchor.position(a, b, w, this.object.position);
    value.normalize();
    if (this.isTorque) {
      this.object.quaternion.setFromUnitVectors(SIDE, value);
      this.object.scale.setScalar(0.6 + 0.8 * strength);
      return;
    }
    const length = Math.max(0.16 * this.reach * strength, 1.3 * this.size), head = 1.2 * this.size;
    this.object.quaternion.setFromUnitVectors(UP, value);
    this.tip.position.set(0, -head / 2, 0);
    this.shaft.scale.y = Math.max(length - head, 1e-9);
    this.shaft.position.set(0, -head - (length - head) / 2, 0);
  }
}
