// A report that a server on this machine shows: it asks for news, and tells what was set on the page.
(async () => {
  const report = window.report, inputs = report.head.inputs, byId = (id) => document.getElementById(id);
  const tell = (what) => fetch("set", { method: "POST", body: JSON.stringify(what) }).catch(() => {});
  let number = -1, version = null, runs = true, told = "";

  function addInput(name, value) {
    const label = document.createElement("label"), fields = value.map((number) => {
      const field = document.createElement("input");
      Object.assign(field, { type: "number", step: "any", value: number });
      field.setAttribute("aria-label", name);
      field.onchange = () => tell({ inputs: { [name]: fields.map((each) => Number(each.value)) } });
      return field;
    });
    label.append(`${name} `, ...fields);
    byId("inputs").append(label);
  }

  function setSpeed(speed) {
    report.rate = speed;
    const rates = byId("rate");
    if (![...rates.options].some((option) => Number(option.value) === speed)) rates.append(new Option(`${speed} ×`, speed));
    rates.value = speed;
  }

  // A run: fields for its inputs; the button of the player pauses it.
  if (inputs) {
    for (const id of ["time", "rate", "trace"]) (byId(id).closest("label") || byId(id)).hidden = true;
    const row = document.createElement("div"), end = document.createElement("button");
    Object.assign(row, { id: "inputs", className: "row" });
    Object.assign(end, { type: "button", textContent: "end", onclick: () => tell({ end: true }) });
    row.append(end);
    byId("controls").append(row);
    for (const [name, value] of Object.entries(inputs)) addInput(name, value);
    report.toggle = () => {
      runs = !runs;
      byId("play").textContent = runs ? "❚❚" : "▶";
      byId("play").setAttribute("aria-label", runs ? "pause" : "play");
      tell({ runs });
    };
    byId("play").textContent = "❚❚";
  } else {
    setInterval(() => { // only what the user did: news are told already
      const now = { number, time: report.now, playing: report.playing, speed: report.rate };
      if (version !== null && JSON.stringify(now) !== told) tell(now);
      told = JSON.stringify(now);
    }, 200);
  }

  for (;;) {
    let news;
    try {
      news = await (await fetch(`news?after=${number}`)).json();
    } catch {
      news = { is_open: false };
    }
    if (!news.is_open) return void (byId("caption").textContent = "stopped");
    if (news.number === number) continue;
    number = news.number;
    if (news.moved) report.receive(news.moved, news.block);
    if (inputs) continue;
    if (version !== null && news.version !== version) return location.reload();
    version = news.version;
    if (news.speed) setSpeed(news.speed);
    if (news.playing !== report.playing) report.toggle();
    report.goTo(news.time);
  }
})();
