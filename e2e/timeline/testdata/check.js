// Works on the timeline as a person would and tells the frame around it what was
// found. It knows the page by what is on it, not by its script.
addEventListener("load", () => {
  const $ = id => document.getElementById(id), all = selector => document.querySelectorAll(selector);
  const found = { width: innerWidth, failures: window.failures };
  const expect = (what, ok) => { if (!ok) window.failures.push("not so: " + what); };
  const view = $("view");
  const overflow = when => {
    const page = document.documentElement;
    expect("nothing is wider than the page " + when, page.scrollWidth <= innerWidth && document.body.scrollWidth <= innerWidth);
    for (const element of all("header, header *, #detail, #detail .bar, #detail .bar *")) {
      const box = element.getBoundingClientRect();
      if (box.width && (box.right > innerWidth + 1 || box.left < -1) && !element.closest("[hidden]")) {
        window.failures.push((element.id || element.className || element.tagName) + " leaves the page " + when);
      }
    }
  };
  const wheel = (target, deltaY, x) => {
    const box = target.getBoundingClientRect();
    target.dispatchEvent(new WheelEvent("wheel", { deltaY, clientX: x, clientY: box.top + 5, ctrlKey: true, bubbles: true, cancelable: true }));
  };
  const press = key => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const point = (type, element, more) => {
    const box = element.getBoundingClientRect();
    element.dispatchEvent(new PointerEvent(type, { pointerType: "mouse", clientX: box.left + 1, clientY: box.top + 1, bubbles: true, cancelable: true, ...more }));
  };
  try {
    expect("the script ran", document.documentElement.dataset.ready === "yes");
    found.rows = all(".row").length;
    found.transactions = all(".t[data-i]").length;
    found.phases = [...all(".t[data-i]")].reduce((sum, bar) => sum + bar.style.backgroundImage.split("var(").length - 1, 0);
    found.lives = all(".l[data-i]").length;
    found.faults = all(".f[data-i]").length;
    found.cuts = all(".c[data-i]").length;
    found.marks = all(".m[data-i]").length;
    found.violations = all("#violations li").length;
    overflow("at first");
    expect("the legend explains results, phases and faults", all(".legend i").length >= 20);
    expect("there are ticks", all("#ticks span").length > 1);
    press("0");
    expect("the whole run is seen", view.scrollWidth <= view.clientWidth + 1);

    // A zoom keeps what is under the pointer where it is, but for a part of a pixel that is magnified too.
    const bar = [...all(".t[data-i]")].find(element => element.getBoundingClientRect().left > innerWidth / 3) || all(".t[data-i]")[0];
    if (bar) {
      const x = bar.getBoundingClientRect().left, wide = $("sheet").offsetWidth;
      wheel(bar, -600, x);
      expect("the wheel zooms in", $("sheet").offsetWidth > 2 * wide);
      const moved = bar.getBoundingClientRect().left - x;
      expect("the bar under the pointer stays there: it moved from " + x + " by " + moved, Math.abs(moved) < 10);
      overflow("after a zoom");
      const zoomed = $("sheet").offsetWidth, left = view.scrollLeft;
      press("ArrowRight");
      expect("an arrow pans", view.scrollLeft > left);
      press("-");
      expect("a key zooms out", $("sheet").offsetWidth < zoomed);
      press("0");
      expect("0 shows all again", $("sheet").offsetWidth === wide);

      point("pointerover", bar);
      const tip = $("tip"), box = tip.getBoundingClientRect();
      found.tip = tip.textContent;
      expect("a tooltip is shown", !tip.hidden && box.width > 50);
      expect("the tooltip is on the page", box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight);
      point("click", bar);
      expect("a click shows the trace", !$("detail").hidden && $("detail").querySelector("pre").textContent !== "");
      overflow("with the trace open");
      press("Escape");
      expect("Escape closes the trace and the tooltip", $("detail").hidden && tip.hidden);
    }
    const violation = document.querySelector("#violations li button");
    if (violation) {
      violation.click();
      const line = document.querySelector("#grid .here").getBoundingClientRect();
      expect("a violation is brought into view", line.left > 0 && line.left < innerWidth);
      const row = document.querySelector(".row.here");
      const seen = row && row.getBoundingClientRect(), box = view.getBoundingClientRect();
      expect("and its row is", seen && seen.top < box.bottom && seen.bottom > box.top);
      press("n");
      press("Escape");
      press("0");
    }
    const name = [...all(".row .name")].pop().textContent;
    $("filter").value = name;
    $("filter").dispatchEvent(new Event("input"));
    const left = [...all(".row")].filter(row => !row.hidden);
    expect("the filter leaves the rows that match", left.length >= 1 && left.every(row => row.textContent.includes(name)));
    $("filter").value = "";
    $("filter").dispatchEvent(new Event("input"));
    $("legend").open = true;
    overflow("with the legend open");
    $("legend").open = false;
    $("filter").blur();
  } catch (error) {
    window.failures.push(String(error && error.stack || error));
  }
  parent.postMessage(JSON.stringify(found), "*");
});
