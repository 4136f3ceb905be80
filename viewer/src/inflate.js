// Deflated data at once (RFC 1950, 1951). The browser's own DecompressionStream answers later, when the page has said
// already that it is loaded: whoever takes a picture of it then finds it empty.
const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BITS = Array.from({ length: 30 }, (_, k) => Math.max(0, (k >> 1) - 1));
const DISTANCES = DISTANCE_BITS.map((bits, k) => (k < 2 ? k + 1 : (2 + (k & 1)) * 2 ** bits + 1));
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]; // of the lengths of code lengths
const LONGEST = 15; // bits of a code
const HEAD = 2, TAIL = 4; // bytes of zlib around the data

// From the next 15 bits, the first of them lowest, to 16 times the symbol plus the length of its code.
function codeTable(lengths) {
  const counts = new Uint16Array(LONGEST + 1), next = new Uint16Array(LONGEST + 2), found = new Uint16Array(1 << LONGEST);
  for (const length of lengths) if (length) counts[length]++;
  for (let k = 1; k <= LONGEST; k++) next[k + 1] = (next[k] + counts[k]) << 1;
  lengths.forEach((length, symbol) => {
    if (!length) return;
    let turned = 0, code = next[length]++;
    for (let k = 0; k < length; k++, code >>= 1) turned = (turned << 1) | (code & 1);
    for (let place = turned; place < found.length; place += 1 << length) found[place] = (symbol << 4) | length;
  });
  return found;
}

class Bits {
  constructor(bytes) {
    Object.assign(this, { bytes, place: HEAD, held: 0, count: 0 });
  }

  need(count) {
    for (; this.count < count; this.count += 8) this.held |= (this.bytes[this.place++] || 0) << this.count;
  }

  take(count) {
    this.need(count);
    const found = this.held & ((1 << count) - 1);
    this.held >>>= count;
    this.count -= count;
    return found;
  }

  symbol(table) {
    this.need(LONGEST);
    const entry = table[this.held & ((1 << LONGEST) - 1)];
    this.held >>>= entry & 15;
    this.count -= entry & 15;
    return entry >> 4;
  }

  // To the next whole byte: what was read ahead is given back.
  align() {
    this.place -= this.count >> 3;
    this.held = this.count = 0;
  }
}

// The two tables of a block with codes of its own.
function ownTables(bits) {
  const literals = bits.take(5) + 257, distances = bits.take(5) + 1, codes = bits.take(4) + 4;
  const first = new Array(ORDER.length).fill(0), lengths = [];
  for (let k = 0; k < codes; k++) first[ORDER[k]] = bits.take(3);
  const table = codeTable(first);
  while (lengths.length < literals + distances) {
    const symbol = bits.symbol(table);
    if (symbol < 16) lengths.push(symbol);
    else {
      const value = symbol === 16 ? lengths[lengths.length - 1] : 0;
      const repeats = symbol === 16 ? 3 + bits.take(2) : symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7);
      for (let k = 0; k < repeats; k++) lengths.push(value);
    }
  }
  return [codeTable(lengths.slice(0, literals)), codeTable(lengths.slice(literals))];
}

function fixedTables() {
  const lengths = Array.from({ length: 288 }, (_, k) => (k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8));
  return [codeTable(lengths), codeTable(new Array(30).fill(5))];
}

// The bytes that Python's zlib compressed to this text of base 64.
export function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), bits = new Bits(bytes);
  let out = new Uint8Array(8 * bytes.length + 1024), size = 0, isLast = false;
  const reserve = (more) => {
    if (size + more <= out.length) return;
    const larger = new Uint8Array(2 * (size + more));
    larger.set(out);
    out = larger;
  };
  while (!isLast) {
    isLast = bits.take(1) === 1;
    const kind = bits.take(2);
    if (kind === 0) {
      bits.align();
      const count = bytes[bits.place] | (bytes[bits.place + 1] << 8);
      reserve(count);
      out.set(bytes.subarray(bits.place + 4, bits.place + 4 + count), size);
      bits.place += 4 + count;
      size += count;
      continue;
    }
    const [literals, distances] = kind === 1 ? fixedTables() : ownTables(bits);
    for (;;) {
      const symbol = bits.symbol(literals);
      if (symbol === 256) break;
      reserve(258);
      if (symbol < 256) {
        out[size++] = symbol;
        continue;
      }
      if (bits.place > bytes.length + TAIL) throw new Error("the report is cut off");
      const length = LENGTHS[symbol - 257] + bits.take(LENGTH_BITS[symbol - 257]);
      const code = bits.symbol(distances), distance = DISTANCES[code] + bits.take(DISTANCE_BITS[code]);
      for (let k = 0; k < length; k++, size++) out[size] = out[size - distance];
    }
  }
  return out.slice(0, size);
}
