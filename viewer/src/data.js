// The numbers of a report: a JSON head and one block of arrays, each of 8, 16 or 32 bits with scale and shift.
import { inflated } from "./inflate.js";

const KINDS = { u1: Uint8Array, i2: Int16Array, u4: Uint32Array, f4: Float32Array };

export function readData(document) {
  const head = JSON.parse(document.getElementById("head").textContent);
  const block = inflated(document.getElementById("block").textContent.trim()).buffer;
  const cache = new Map();
  const array = (index) => {
    if (index === null || index === undefined) return null;
    if (!cache.has(index)) cache.set(index, unpacked(block, head.arrays[index]));
    return cache.get(index);
  };
  return { head, array };
}

function unpacked(block, entry) {
  const { kind, shape, start, scale, shift } = entry;
  const count = shape.reduce((a, b) => a * b, 1);
  const raw = new KINDS[kind](block, start, count);
  if (kind === "f4" || kind === "u4" || kind === "u1") return { shape, values: raw };
  const values = new Float32Array(count);
  const columns = scale.length;
  for (let i = 0; i < count; i++) values[i] = raw[i] * scale[i % columns] + shift[i % columns];
  return { shape, values };
}
