"use strict";
// Sorts and filters the sentences. Each row is a string of HTML that nmt made and escaped; a row becomes part of the
// page when it is shown, so that ten thousand of them scroll.
(async () => {
  const list = document.getElementById("rows");
  if (!list) return;
  const keys = JSON.parse(document.getElementById("keys").textContent);
  let rows = document.getElementById("plain").textContent.split("\n").slice(1, -1);
  const packed = document.getElementById("packed");
  if (packed) {
    try {
      const bytes = Uint8Array.from(atob(packed.textContent.trim()), (c) => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      rows = rows.concat((await new Response(stream).text()).split("\n"));
      packed.remove();
    } catch (error) {
      document.getElementById("unpacked").hidden = false;
    }
  }
  const STEP = 40;
  const get = (id) => document.getElementById(id);
  const [search, order, kind, system, other] = ["search", "order", "kind", "system", "other"].map(get);
  const decoder = document.createElement("textarea");
  const texts = [];
  const textOf = (i) => {
    if (texts[i] === undefined) {
      decoder.innerHTML = rows[i].replace(/<[^>]*>/g, " ");
      texts[i] = decoder.value.toLowerCase();
    }
    return texts[i];
  };
  const chrf = (i, s) => keys.chrf[i][s];
  const ORDERS = {
    difference: () => (a, b) => a - b,
    number: () => (a, b) => keys.number[a] - keys.number[b],
    longest: () => (a, b) => keys.length[b] - keys.length[a],
    shortest: () => (a, b) => keys.length[a] - keys.length[b],
    worst: (s) => (a, b) => chrf(a, s) - chrf(b, s),
    best: (s) => (a, b) => chrf(b, s) - chrf(a, s),
    ahead: (s, o) => (a, b) => chrf(b, s) - chrf(b, o) - (chrf(a, s) - chrf(a, o)),
  };
  let chosen = [];
  let shown = 0;
  const more = () => {
    const html = chosen.slice(shown, shown + STEP).map((i) => rows[i]).join("");
    list.insertAdjacentHTML("beforeend", html);
    shown = Math.min(shown + STEP, chosen.length);
    get("more").hidden = shown >= chosen.length;
  };
  const update = () => {
    const wanted = search.value.trim().toLowerCase();
    const s = Number(system.value);
    const mask = Number(kind.value);
    chosen = [];
    for (let i = 0; i < rows.length; i++) {
      const faults = s < 0 ? keys.any[i] : keys.faults[i][s];
      if (mask && !(mask < 0 ? faults : faults & mask)) continue;
      if (wanted && !textOf(i).includes(wanted)) continue;
      chosen.push(i);
    }
    const by = ORDERS[order.value](Math.max(0, s), Number(other.value));
    chosen.sort((a, b) => by(a, b) || a - b);
    other.disabled = order.value !== "ahead";
    get("count").textContent = `${chosen.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    list.replaceChildren();
    shown = 0;
    more();
  };
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(update, 150);
  });
  for (const each of [order, kind, system, other]) each.addEventListener("change", update);
  get("more").addEventListener("click", more);
  new IntersectionObserver((seen) => {
    if (seen[0].isIntersecting && shown < chosen.length) more();
  }, { rootMargin: "1500px" }).observe(get("end"));
  get("tools").hidden = false;
  update();
  document.documentElement.dataset.ready = "yes";
})();
