// The numbers of a report: a JSON head and one block of arrays, each of 8, 16 or 32 bits with scale and shift.
import { inflated } from "./inflate.js";

const KINDS = { u1: Uint8Array, i2: Int16Array, u4: Uint32Array, f4: Float32Array };

export function readData(document) {
  const head = JSON.parse(document.getElementById("head").textContent);
  return { head, array: arraysOf(head.arrays, document.getElementById("block").textContent.trim()) };
}

// Arrays by their numbers, from a compressed block.
export function arraysOf(entries, text) {
  const block = inflated(text).buffer, cache = new Map();
  const array = (index) => {
    if (index === null || index === undefined) return null;
    if (!cache.has(index)) cache.set(index, unpacked(block, entries[index]));
    return cache.get(index);
  };
  return array;
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
