// Keeps the page as the cluster is, and does what a page without script cannot: find,
// copy, keys. Without it everything can be read.
"use strict";
const live = document.getElementById("live");
let busy = false, again = false;

async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    const typing = document.activeElement && document.activeElement.closest("form, .filters");
    if (!typing && answer.ok) {
      const at = document.activeElement, mark = at && (at.id || at.getAttribute("href"));
      document.getElementById("main").innerHTML = next.getElementById("main").innerHTML;
      const back = mark && [...document.querySelectorAll("#main a, #main [id]")].find(e => e.id === mark || e.getAttribute("href") === mark);
      if (back) back.focus({ preventScroll: true });
      find();
    }
    live.textContent = next.getElementById("live").textContent;
    live.className = "";
  } catch (_) {
    live.textContent = "kubectl nmstate ui has ended; last seen " + live.dataset.at;
    live.className = "old";
  }
  busy = false;
  if (again) { again = false; setTimeout(refresh, 500); }
}

function find() {
  const field = document.getElementById("find");
  if (!field) return;
  const wanted = field.value.trim().toLowerCase();
  for (const tile of document.querySelectorAll(".tiles > li")) tile.hidden = !tile.dataset.name.toLowerCase().includes(wanted);
}

document.addEventListener("input", event => { if (event.target.id === "find") find(); });
document.addEventListener("click", event => {
  const button = event.target.closest("[data-copy], [data-copy-from]");
  if (!button || !navigator.clipboard) return;
  const text = button.dataset.copy || document.getElementById(button.dataset.copyFrom).textContent;
  navigator.clipboard.writeText(text).then(() => { button.textContent = "copied"; }, () => {});
});
document.addEventListener("keydown", event => {
  if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector("main input[type=search]");
  if (event.key === "/" && field) { field.focus(); event.preventDefault(); }
  const tiles = [...document.querySelectorAll(".tiles > li:not([hidden]) > a")], at = tiles.indexOf(document.activeElement);
  const step = { j: 1, k: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step && tiles.length) { tiles[Math.max(0, Math.min(tiles.length - 1, at + step))].focus(); event.preventDefault(); }
});

const events = new EventSource("/events");
events.onmessage = () => { if (!document.querySelector("[data-still]")) refresh(); };
events.onerror = () => { live.className = "old"; live.textContent = "not connected; last seen " + live.dataset.at; };
events.onopen = () => { if (live.className) refresh(); };
