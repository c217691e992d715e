// The timeline. Places are percentages of the track, so that a zoom changes one
// width and a pan is the browser's own scrolling.
(() => {
  "use strict";
  const record = JSON.parse(document.getElementById("record").textContent);
  const $ = id => document.getElementById(id);
  const view = $("view"), sheet = $("sheet"), tip = $("tip"), detail = $("detail");
  const length = Math.max(record.length, 1);
  const percent = at => (100 * at / length).toFixed(5) + "%";
  const targets = ["gateway", "dns", "api"];

  // things are what can be pointed at, by number.
  const things = [];
  const rows = record.rows.map(([name, node, lives, transactions, faults, cuts, marks, dropped]) =>
    ({ name, node, lives, transactions, faults, cuts, marks, dropped }));
  const rowByName = new Map(rows.map(row => [row.name, row]));

  function make(parent, className, text) {
    const element = document.createElement("div");
    element.className = className;
    if (text) element.appendChild(document.createElement("span")).textContent = text;
    parent.appendChild(element);
    return element;
  }

  function thing(element, row, begin, end, title, ...more) {
    element.dataset.i = things.length;
    things.push({ row, begin, end, title, more: more.filter(Boolean) });
  }

  function place(element, begin, end, top, height) {
    const style = element.style;
    style.left = percent(begin);
    if (end !== null) style.width = percent(end - begin);
    style.top = top + "px";
    if (height) style.height = height + "px";
  }

  // clock is minutes, seconds and milliseconds, as in the trace.
  function clock(at) {
    const ms = Math.round(at / 1000);
    return Math.floor(ms / 60000) + ":" + String((ms % 60000 / 1000).toFixed(3)).padStart(6, "0");
  }
  function lasting(us) {
    const s = us / 1e6;
    if (s < 1) return Math.round(us / 1000) + " ms";
    if (s < 120) return s.toFixed(s < 10 ? 2 : 1) + " s";
    return Math.floor(s / 60) + " min " + Math.round(s % 60) + " s";
  }
  const when = (begin, end, open) =>
    clock(begin) + " – " + (open ? "the end of the run" : clock(end)) + " (" + lasting(end - begin) + (open ? ", open" : "") + ")";

  // brief is what fits beside a mark: what it is, without when and where.
  function brief(kind, text) {
    const parts = text.split(": ");
    if (kind === "killed") return kind;
    if (kind === "checkpoint") return "checkpoint " + text.replace(/^[^ ]+ /, "");
    if (kind === "fault") return /^[0-9]+ /.test(text) ? parts[parts.length - 1] : parts[0];
    return text.replace(/^#[0-9]+ at [^:]*: |^[0-9.]+s /, "");
  }

  // lanes gives each span the first lane that is free.
  function lanes(spans, most) {
    const ends = [];
    return spans.map(([begin, end]) => {
      let lane = ends.findIndex(until => until <= begin);
      if (lane < 0) lane = Math.min(ends.length, most - 1);
      ends[lane] = Math.max(end, ends[lane] || 0);
      return lane;
    });
  }

  function drawTransaction(row, track, top, height, [begin, end, open, label, generation, result, text, phases]) {
    const bar = make(track, "t " + (open ? "open" : result), label);
    place(bar, begin, end, top, height);
    // One gradient for all phases: an element for each would be too many.
    const part = at => (100 * (at - begin) / Math.max(end - begin, 1)).toFixed(2) + "%";
    const strip = phases.map(([from, to, , phase]) => "var(--" + phase + ") " + part(from) + " " + part(to));
    if (strip.length) bar.style.backgroundImage = "linear-gradient(to right, " + strip.join(", ") + ")";
    thing(bar, row, begin, end, row.name + ": " + label + (generation ? ", generation " + generation : ""),
      open ? "still open" : result || "lost with its process", when(begin, end, open), text,
      phases.map(([from, to, , phase]) => "  " + (phase === "Down" ? "nobody there" : phase).padEnd(13) + lasting(to - from)).join("\n"));
  }

  function drawRow(row, compact) {
    const element = make($("rows"), "row");
    row.element = element;
    const name = make(element, "name");
    name.textContent = row.name;
    name.title = row.name + (row.dropped ? " (" + row.dropped + " more marks are not shown)" : "");
    const track = make(element, "track");
    let top = 3;

    // In a large picture the marks lie on the faults.
    const lane = lanes(row.faults, compact ? 2 : 4), high = compact ? 9 : 14;
    row.faults.forEach(([begin, end, open, kind, text], i) => {
      const bar = make(track, compact ? "f thin" : "f", compact ? "" : kind);
      place(bar, begin, end, top + high * lane[i]);
      thing(bar, row, begin, end, row.name + ": fault " + kind, when(begin, end, open), text);
    });
    const faults = high * (Math.max(-1, ...lane) + 1);
    if (!compact) top += faults;

    row.marks.forEach(([at, who, kind, text], i) => {
      const next = i + 1 < row.marks.length ? row.marks[i + 1][0] : length;
      const mark = make(track, "m " + kind, compact ? "" : brief(kind, text));
      place(mark, at, next, top);
      mark.style.left = "max(5px, " + percent(at) + ")";
      thing(mark, row, at, at, (who || row.name) + ": " + kind, clock(at), text);
    });
    top += Math.max(row.marks.length ? 14 : 0, compact ? faults : 0);

    if (row.node) {
      const height = compact ? 12 : 19;
      for (const transaction of row.transactions) drawTransaction(row, track, top, height, transaction);
      top += height + 2;
    }
    const processes = [...new Set(row.lives.map(life => life[3]))];
    for (const [begin, end, open, process, text] of row.lives) {
      const life = make(track, row.node ? "l" : "l wide", row.node ? "" : process);
      place(life, begin, end, top + processes.indexOf(process) * (row.node ? 4 : 15));
      thing(life, row, begin, end, process + (open ? " lives" : " lived until it was killed"), when(begin, end, open), text);
    }
    top += processes.length * (row.node ? 4 : 15) + 1;

    if (row.node) {
      const height = compact ? 2 : 3;
      const known = targets.concat([...new Set(row.cuts.map(cut => cut[3]))].filter(target => !targets.includes(target)));
      known.forEach((target, i) => {
        const band = make(track, "r");
        band.style.top = top + i * (height + 1) + "px";
        band.style.height = height + "px";
      });
      for (const [begin, end, open, target, text] of row.cuts) {
        const cut = make(track, "c");
        place(cut, begin, end, top + known.indexOf(target) * (height + 1), height);
        thing(cut, row, begin, end, row.name + ": no way to " + target, when(begin, end, open), text);
      }
      top += known.length * (height + 1);
    }
    top = Math.max(top + 3, 22);
    track.style.height = top + "px";
    element.style.containIntrinsicHeight = top + 1 + "px";
    row.troubled = row.faults.length > 0 || row.cuts.length > 0 || row.marks.some(mark => mark[2] === "killed") ||
      row.transactions.some(transaction => transaction[2] || transaction[5] !== "Committed");
  }

  // rowOf finds the row of a process or node by the words of its name.
  function rowOf(who) {
    if (!who) return rowByName.get("cluster");
    const words = who.split(/[\/ @:]/).filter(Boolean);
    return rowByName.get(who) || words.map(word => rowByName.get(word)).find(row => row && row.node) ||
      rowByName.get(words[0].replace(/-[0-9]+$/, "")) || rowByName.get(words[0]);
  }

  // rowOfViolation falls back on the first node that it names.
  const rowOfViolation = ([, who, text]) =>
    !who && rows.find(row => row.node && text.split(/[^\w.-]+/).some(word => word.replace(/\.$/, "") === row.name)) || rowOf(who);

  // Width of the track, and what of it is seen.
  const label = () => view.querySelector(".corner").offsetWidth;
  const room = () => Math.max(view.clientWidth - label(), 40);
  const widest = Math.max(2000, Math.min(12e6, length / 100));
  let width = 0;

  function setWidth(pixels) {
    width = Math.min(Math.max(pixels, room()), widest);
    sheet.style.setProperty("--w", width + "px");
  }

  // zoom by a factor; what is x pixels from the left edge of the view stays there.
  function zoom(factor, x = label() + room() / 2) {
    x = Math.max(x, label());
    const part = (view.scrollLeft + x - label()) / width;
    setWidth(width * factor);
    view.scrollLeft = part * width + label() - x;
    ticks();
  }
  function fit() {
    setWidth(0);
    view.scrollLeft = 0;
    ticks();
  }
  // overview leaves out a long quiet end.
  function overview() {
    const last = Math.max(...rows.map(row => Math.max(0, ...row.transactions.concat(row.faults, row.cuts).map(span => span[1]), ...row.marks.map(mark => mark[0]))),
      ...record.violations.map(violation => violation[0]));
    fit();
    if (last > 0 && last < 0.6 * length) setWidth(room() * length / (1.05 * last));
    ticks();
  }
  // show brings the instant to the middle, with so much time around it.
  function show(at, span, row) {
    if (span) setWidth(room() * length / span);
    view.scrollLeft = at / length * width - room() / 2;
    for (const other of rows) other.element.classList.toggle("here", other === row);
    if (row) {
      row.element.hidden = false;
      view.scrollTop = row.element.offsetTop - view.clientHeight / 2;
    }
    ticks();
  }

  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 36e6];
  function ticks() {
    const perMs = width / (length / 1000);
    const step = steps.find(ms => ms * perMs >= 80) || steps[steps.length - 1];
    const first = Math.floor(view.scrollLeft / perMs / step);
    const last = Math.ceil((view.scrollLeft + view.clientWidth) / perMs / step);
    const words = document.createDocumentFragment(), lines = document.createDocumentFragment();
    for (let n = first; n <= last && n * step * 1000 <= length; n++) {
      const left = percent(n * step * 1000);
      const word = words.appendChild(document.createElement("span"));
      word.style.left = left;
      word.textContent = step >= 1000 ? clock(n * step * 1000).slice(0, -4) : clock(n * step * 1000);
      lines.appendChild(document.createElement("i")).style.left = left;
    }
    $("ticks").querySelectorAll("span:not(.v)").forEach(old => old.remove());
    $("grid").querySelectorAll("i:not(.v)").forEach(old => old.remove());
    $("ticks").prepend(words);
    $("grid").prepend(lines);
  }

  let current = -1;
  function jump(n) {
    const violations = record.violations;
    if (!violations.length) return;
    current = (n + violations.length) % violations.length;
    const [at] = violations[current];
    const row = rowOfViolation(violations[current]);
    open({ row, others: true, begin: at, end: at, title: "Around " + clock(at) + (row ? " on " + row.name : "") }); // Takes its room first.
    show(at, Math.min(length, 6e7), row);
    document.querySelectorAll("#violations li button, #grid .v").forEach(element =>
      element.classList.toggle("here", Number(element.dataset.n) === current));
  }
  function drawViolations() {
    record.violations.forEach(([at, who, text], n) => {
      const item = $("violations").querySelector("ol").appendChild(document.createElement("li"));
      const button = item.appendChild(document.createElement("button"));
      for (const [className, words] of [["when", clock(at)], ["who", who], ["text", text]]) {
        const part = button.appendChild(document.createElement("span"));
        part.className = className;
        part.textContent = words;
      }
      button.addEventListener("click", () => jump(n));
      const flag = $("ticks").appendChild(document.createElement("span"));
      const mark = $("grid").appendChild(document.createElement("i"));
      for (const element of [flag, mark]) {
        element.className = "v";
        element.style.left = percent(at);
      }
      flag.addEventListener("click", () => jump(n));
      button.dataset.n = mark.dataset.n = n;
      const row = rowOfViolation(record.violations[n]);
      if (row) {
        row.troubled = true;
        row.element.classList.add("bad");
      }
    });
  }

  // The lines of the trace around something.
  const mostLines = 600, leastLines = 12, around = 2e6;
  function open(what) {
    const pre = detail.querySelector("pre");
    pre.textContent = "";
    detail.querySelector("b").textContent = what.title;
    const wide = rowByName.get("cluster");
    const about = row => row === what.row || row === wide || what.others && row && !row.node;
    const lines = what.row ? record.lines.filter(([, who]) => about(rowOf(record.who[who]))) : record.lines;
    const after = at => { const found = lines.findIndex(line => line[0] >= at); return found < 0 ? lines.length : found; };
    const first = Math.max(0, Math.min(after(what.begin - around), after(what.begin) - leastLines));
    const all = lines.slice(first, after(what.end + around));
    for (const [at, who, kind, text] of all.slice(0, mostLines)) {
      const line = pre.appendChild(document.createElement("div"));
      const name = record.kinds[kind];
      line.textContent = clock(at).padStart(10) + " " + record.who[who].padEnd(14) + " " + name.padEnd(9) + " " + text;
      if (at >= what.begin && at <= what.end) line.classList.add("during");
      if (["error", "violation", "fail", "killed"].includes(name)) line.classList.add("bad");
      else if (name === "fault" || name === "host") line.classList.add("warn");
      else if (name !== "log") line.classList.add("dim");
    }
    if (!all.length) pre.textContent = record.dropped ? "The trace of that time was too long to be kept here: replay the run." : "Nothing is in the trace there.";
    if (all.length > mostLines) pre.append("… and more: replay the run to see all.");
    detail.hidden = false;
    const during = pre.querySelector(".during");
    pre.scrollTop = during ? during.offsetTop - pre.offsetTop - 40 : pre.scrollHeight;
  }

  function showTip(element, x, y) {
    const what = things[element.dataset.i];
    tip.textContent = [what.title, ...what.more].join("\n");
    tip.hidden = false;
    const right = innerWidth - tip.offsetWidth - 8, below = innerHeight - tip.offsetHeight - 8;
    tip.style.left = Math.max(8, Math.min(x + 14, right)) + "px";
    tip.style.top = (y + 18 > below ? Math.max(8, y - tip.offsetHeight - 12) : y + 18) + "px";
  }

  function listen() {
    $("in").addEventListener("click", () => zoom(1.6));
    $("out").addEventListener("click", () => zoom(1 / 1.6));
    $("fit").addEventListener("click", fit);
    $("close").addEventListener("click", () => { detail.hidden = true; });
    $("copy")?.addEventListener("click", () => {
      getSelection().selectAllChildren($("replay")); // For where a page may not write there.
      navigator.clipboard?.writeText($("replay").textContent).catch(() => {});
    });
    $("filter").addEventListener("input", filter);
    $("busy").addEventListener("change", filter);
    let waiting = false;
    view.addEventListener("scroll", () => {
      tip.hidden = true;
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; ticks(); });
    });
    addEventListener("resize", () => { setWidth(width); ticks(); });
    view.addEventListener("wheel", event => {
      const scrolls = sheet.offsetHeight > view.clientHeight && !event.target.closest("#axis");
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY) || scrolls && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 300), event.clientX - view.getBoundingClientRect().left);
    }, { passive: false });
    addEventListener("keydown", key);
    pointers();
    pinch();
  }

  function pointers() {
    let from = null, moved = false;
    view.addEventListener("pointerover", event => {
      const element = event.target.closest("[data-i]");
      if (element && event.pointerType === "mouse" && !from) showTip(element, event.clientX, event.clientY);
      else if (!element) tip.hidden = true;
    });
    view.addEventListener("pointerleave", () => { tip.hidden = true; });
    view.addEventListener("pointerdown", event => {
      moved = false;
      if (event.pointerType === "mouse" && event.button === 0 && !event.target.closest(".name")) {
        from = { x: event.clientX, y: event.clientY, left: view.scrollLeft, top: view.scrollTop };
      }
    });
    addEventListener("pointermove", event => {
      if (!from) return;
      const x = event.clientX - from.x, y = event.clientY - from.y;
      if (!moved && Math.hypot(x, y) < 5) return;
      moved = true;
      view.classList.add("dragged");
      view.scrollLeft = from.left - x;
      view.scrollTop = from.top - y;
    });
    addEventListener("pointerup", () => { from = null; view.classList.remove("dragged"); });
    view.addEventListener("click", event => {
      const element = event.target.closest("[data-i]");
      if (moved || !element) return;
      open(things[element.dataset.i]);
      showTip(element, event.clientX, event.clientY);
    });
  }

  function pinch() {
    let apart = 0;
    const spread = touches => Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
    view.addEventListener("touchstart", event => { if (event.touches.length === 2) apart = spread(event.touches); }, { passive: true });
    view.addEventListener("touchmove", event => {
      if (event.touches.length !== 2 || !apart) return;
      event.preventDefault();
      const now = spread(event.touches), middle = (event.touches[0].clientX + event.touches[1].clientX) / 2;
      zoom(now / apart, middle - view.getBoundingClientRect().left);
      apart = now;
    }, { passive: false });
  }

  function key(event) {
    if (event.key === "Escape") {
      detail.hidden = tip.hidden = true;
      document.activeElement.blur();
    }
    if (event.target.matches("input") || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = room() * 0.2;
    const action = {
      "+": () => zoom(1.6), "=": () => zoom(1.6), "-": () => zoom(1 / 1.6), "0": fit,
      ArrowLeft: () => { view.scrollLeft -= page; }, ArrowRight: () => { view.scrollLeft += page; },
      n: () => jump(current + 1), p: () => jump(current < 0 ? -1 : current - 1), "/": () => $("filter").focus(),
      "?": () => { $("legend").open = !$("legend").open; },
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  function filter() {
    const words = $("filter").value.trim().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      row.element.hidden = words.length > 0 && !words.some(word => row.name.includes(word)) || $("busy").checked && row.node && !row.troubled;
    }
    ticks();
  }

  // #at=SECONDS&span=SECONDS&row=NAME opens the page there.
  function goTo() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (!wanted.has("at")) return;
    show(Number(wanted.get("at")) * 1e6, Number(wanted.get("span") || 0) * 1e6, rowByName.get(wanted.get("row")));
  }

  const compact = rows.length > 40;
  for (const row of rows) drawRow(row, compact);
  make(make($("rows"), "filler"), "name");
  drawViolations();
  listen();
  overview();
  goTo();
  addEventListener("hashchange", goTo);
  document.documentElement.dataset.ready = "yes";
})();
