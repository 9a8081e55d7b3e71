"use strict";
// The text is translated line by line, one at a time, so that what is typed meanwhile counts at once.

const part = (id) => document.getElementById(id);
const english = part("english");
const chinese = part("chinese");
const copy = part("copy");
const PAUSE = 300; // milliseconds without a key
const known = new Map(); // lines and their translations
let worker = null;
let isReady = false;
let asked = null; // the line that the worker has
let timer = 0;

function say(text) {
  part("status").textContent = text;
}

function start() {
  const text = (id) => part(id).textContent;
  const engine = `function startEngine(Module) {\n${text("engine")}\n}\n`;
  const script = new Blob([engine, text("worker")], { type: "text/javascript" });
  worker = new Worker(URL.createObjectURL(script));
  worker.onmessage = ({ data }) => heard(data);
  worker.onerror = (event) => say(`This browser cannot translate: ${event.message}`);
  worker.postMessage({
    wasm: text("wasm"),
    src: text("src"),
    tgt: text("tgt"), // nothing: one vocabulary for both
    model: text("model"),
  });
}

function heard(answer) {
  if (asked !== null) {
    known.set(asked, answer.text ?? "");
    asked = null;
  } else {
    isReady = !answer.error;
  }
  show();
  if (answer.error) {
    say(`This browser cannot translate: ${answer.error}`);
  }
}

function show() {
  const lines = english.value.split("\n");
  const missing = lines.find((line) => line.trim() && !known.has(line));
  chinese.value = lines.map((line) => known.get(line) ?? "").join("\n");
  copy.disabled = !chinese.value.trim();
  if (!isReady) {
    return;
  }
  say(missing === undefined ? "Ready." : "Translating …");
  if (missing !== undefined && asked === null) {
    asked = missing;
    worker.postMessage({ line: missing });
  }
}

english.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(show, PAUSE);
});

copy.addEventListener("click", async () => {
  chinese.select();
  try {
    await navigator.clipboard.writeText(chinese.value);
    say("Copied.");
  } catch {
    say("The Chinese is selected: copy it with the keyboard.");
  }
});

try {
  english.value = decodeURIComponent(location.hash.slice(1)); // page.html#text
} catch {
  english.value = "";
}
start();
show();
