// Curves over time with a cursor that is the time of the 3D view; a click or drag in a plot moves the time.

const PAD = { left: 62, right: 12, top: 8, bottom: 24 };

export class Plot {
  constructor(parent, panel, array, colors, onTime) {
    this.panel = panel;
    this.colors = colors;
    this.time = array(panel.time).values;
    this.curves = panel.curves.map((c, k) => ({ name: c.name, dash: c.dash, values: array(c.values).values, shown: true, color: k }));
    const figure = document.createElement("figure");
    figure.className = "plot";
    const names = this.curves.map((c) => c.name).join(", ");
    figure.innerHTML = `<figcaption></figcaption><div class="legend" role="group"></div><div class="sheet"><canvas role="img"></canvas><i class="cursor"></i></div>`;
    figure.querySelector("figcaption").textContent = panel.label;
    this.canvas = figure.querySelector("canvas");
    this.cursor = figure.querySelector(".cursor");
    this.canvas.setAttribute("aria-label", `${panel.label} over time: ${names}. ${panel.summary}`);
    const legend = figure.querySelector(".legend");
    legend.setAttribute("aria-label", `curves of ${panel.label}`);
    for (const curve of this.curves) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.innerHTML = `<i style="border-top:3px ${curve.dash ? "dashed" : "solid"}"></i>`;
      curve.mark = button.firstChild;
      button.append(curve.name);
      const reading = document.createElement("b");
      button.append(reading);
      curve.reading = reading;
      const range = panel.curves[curve.color].range;
      if (range) button.title = `between ${short(range[0])} and ${short(range[1])} in the whole run`;
      button.onclick = () => {
        curve.shown = !curve.shown;
        button.setAttribute("aria-pressed", String(curve.shown));
        this.measure();
        this.draw();
      };
      legend.append(button);
    }
    parent.append(figure);
    const pick = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const share = (event.clientX - box.left - PAD.left) / (box.width - PAD.left - PAD.right);
      onTime(nearest(this.time, this.time[0] + share * (this.time[this.time.length - 1] - this.time[0])));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      pick(event);
    });
    this.canvas.addEventListener("pointermove", (event) => event.buttons && pick(event));
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    this.now = this.time[0];
    this.measure();
  }

  // Of the palette; lighter on a dark page.
  color(curve) {
    const style = getComputedStyle(document.documentElement);
    if (curve.name.startsWith("total")) return style.getPropertyValue("--ink").trim();
    const own = this.colors[curve.color % this.colors.length], light = Number(style.getPropertyValue("--lighten"));
    const part = (k) => parseInt(own.slice(k, k + 2), 16);
    return `rgb(${[1, 3, 5].map((k) => Math.round(part(k) + light * (255 - part(k)))).join(",")})`;
  }

  measure() {
    let low = Infinity, high = -Infinity;
    for (const c of this.curves) if (c.shown) for (const v of c.values) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
    if (!(low <= high)) [low, high] = [0, 1];
    const least = this.panel.least || 0;
    if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
    if (high === low) [low, high] = [low - 1, high + 1];
    const room = 0.05 * (high - low);
    this.low = low - room;
    this.high = high + room;
  }

  // Other instants, as a model moves on.
  take(times, series) {
    this.time = times;
    this.curves.forEach((curve, k) => (curve.values = series[k]));
    this.now = times[times.length - 1];
    this.measure();
    this.draw();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    if (!box.width) return;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.draw();
  }

  // The curves are drawn once; only the cursor, a line of its own, moves with time.
  draw() {
    const ratio = window.devicePixelRatio || 1, width = this.canvas.width / ratio, height = this.canvas.height / ratio;
    if (!width) return;
    const g = this.canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const ink = style.getPropertyValue("--ink"), faint = style.getPropertyValue("--line");
    g.scale(ratio, ratio);
    g.font = "11px system-ui, sans-serif";
    const [t0, t1] = [this.time[0], this.time[this.time.length - 1]];
    this.x = (t) => PAD.left + ((t - t0) / (t1 - t0 || 1)) * (width - PAD.left - PAD.right);
    this.y = (v) => height - PAD.bottom - ((v - this.low) / (this.high - this.low)) * (height - PAD.top - PAD.bottom);
    g.strokeStyle = faint;
    g.fillStyle = ink;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const v of ticks(this.low, this.high, 4)) {
      line(g, PAD.left, this.y(v), width - PAD.right, this.y(v));
      g.fillText(written(v, this.high - this.low), PAD.left - 6, this.y(v));
    }
    g.textAlign = "center";
    g.textBaseline = "top";
    for (const t of ticks(t0, t1, 5)) {
      line(g, this.x(t), PAD.top, this.x(t), height - PAD.bottom);
      g.fillText(written(t, t1 - t0) + (t === 0 ? " s" : ""), this.x(t), height - PAD.bottom + 6);
    }
    g.lineJoin = "round";
    for (const curve of this.curves) {
      if (!curve.shown) continue;
      g.strokeStyle = curve.mark.style.borderTopColor = this.color(curve);
      g.lineWidth = curve.name.startsWith("total") ? 2 : 1.4;
      g.setLineDash(curve.dash ? [5, 4] : []);
      g.beginPath();
      for (let i = 0; i < this.time.length; i++) g.lineTo(this.x(this.time[i]), this.y(curve.values[i]));
      g.stroke();
    }
    this.moveTo(this.now, true);
  }

  // The numbers are written only where somebody has the time to read them.
  moveTo(t, written) {
    this.now = t;
    if (!this.x) return;
    this.cursor.style.transform = `translateX(${this.x(t)}px)`;
    if (!written) return;
    const i = place(this.time, t), j = Math.min(i + 1, this.time.length - 1);
    const w = j > i ? Math.min(1, Math.max(0, (t - this.time[i]) / (this.time[j] - this.time[i]))) : 0;
    for (const c of this.curves) c.reading.textContent = c.shown ? " " + short((1 - w) * c.values[i] + w * c.values[j]) : "";
  }
}

function line(g, x0, y0, x1, y1) {
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
}

// Index of the last time that is not beyond t.
export function place(times, t) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t + 1e-12) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The nearest of the times.
export function nearest(times, t) {
  const i = place(times, t), j = Math.min(i + 1, times.length - 1);
  return times[times[j] - t < t - times[i] ? j : i];
}

function ticks(low, high, count) {
  const span = high - low, rough = span / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => span / s <= count + 1) || power;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k === 0 ? 0 : k * step);
  return found;
}

function written(v, span) {
  if (v === 0) return "0";
  const size = Math.max(Math.abs(v), span);
  if (size >= 1e5 || size < 1e-2) return v.toExponential(Math.max(0, Math.min(3, Math.ceil(Math.log10(Math.abs(v) / span)) + 1)));
  return String(Number(v.toFixed(Math.max(0, 2 - Math.floor(Math.log10(span))))));
}

export function short(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  return size >= 1e5 || size < 1e-3 ? v.toExponential(2) : String(Number(v.toPrecision(4)));
}

// "73.4 MPa"
export function withUnit(v, unit) {
  const size = Math.abs(v), k = size >= 1e4 ? Math.min(3, Math.floor(Math.log10(size) / 3)) : 0;
  return `${Number((v / 1000 ** k).toPrecision(3))} ${["", "k", "M", "G"][k]}${unit}`;
}
