// English on the left, Chinese on the right while one types, and below them what is known about the line at the caret.

import { startDocuments } from "./documents.js";
import { Lines, wrong } from "./lines.js";
import { ask, hasKey, post, setKey } from "./server.js";
import { linked, mark, occurrences, parts, text, wordsOf } from "./words.js";

const part = (id) => document.getElementById(id);
const source = part("source");
const target = part("target");
const backdrop = part("backdrop");
const HINT = "Point at a word to see what belongs to it.";
const STILL = 300; // milliseconds before words that belong together are asked for
const lines = new Lines(show);
let here = null; // the number of the line that is looked at
let typed = 0; // when the last key came
let looking = 0; // a timer
let looked = ""; // the word that is looked at

function say(what) {
  tell("status", what);
}

// What says the same again would be read aloud again.
function tell(id, what) {
  if (part(id).textContent !== what) {
    part(id).textContent = what;
  }
}

// --- both sides ---

function show(said, needsKey = false) {
  lines.texts.forEach((line, number) => {
    showLine(child(backdrop, "div", number), child(target, "p", number), line);
  });
  for (const side of [backdrop, target]) {
    while (side.children.length > lines.texts.length) {
      side.lastChild.remove();
    }
  }
  part("copy").disabled = !translation().trim();
  showDoubts();
  showHere();
  say(said);
  if (needsKey) {
    askForKey();
  }
}

function child(side, name, number) {
  return side.children[number] ?? side.appendChild(document.createElement(name));
}

// An element changes only if its text does: a long text is shown at each key.
function showLine(left, right, line) {
  const found = lines.known.get(line);
  const isShown = left.line === line && right.found === found && right.links === found?.links;
  if (isShown) {
    return;
  }
  const words = (line) => (found?.links ? wordsOf(line) : []);
  const terms = found?.terms ?? [];
  const sources = terms.map(({ start, end }) => [start, end]);
  const targets = terms.flatMap((term) => term.allowed.flatMap((each) => occurrences(found.text, each)));
  left.line = line;
  left.replaceChildren(...parts(line, [...sources, ...words(line)]));
  mark(left, sources, "term");
  right.classList.toggle("old", !found && line.trim() !== "");
  if (found || !line.trim()) {
    right.found = found;
    right.links = found?.links;
    right.replaceChildren(...parts(found?.text ?? "", [...targets, ...words(found?.text ?? "")]));
    mark(right, targets, "term");
    right.classList.toggle("doubtful", Boolean(found?.faults.length));
  }
}

function translation() {
  return lines.texts.map((line) => lines.known.get(line)?.text ?? "").join("\n");
}

function showDoubts() {
  const items = lines.texts.flatMap((line, number) =>
    (lines.known.get(line)?.faults ?? []).map((fault) => doubt(number, fault)),
  );
  const texts = (list) => [...list].map((each) => each.textContent).join("\n");
  if (texts(items) !== texts(part("faults").children)) {
    part("faults").replaceChildren(...items); // one of them may have the focus
  }
  part("doubts").hidden = !items.length;
}

function doubt(number, fault) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.textContent = `Line ${number + 1}: ${fault}`;
  button.addEventListener("click", () => goTo(number));
  item.append(button);
  return item;
}

function goTo(number) {
  const before = lines.texts.slice(0, number).join("\n").length;
  const start = number ? before + 1 : 0;
  source.focus();
  source.setSelectionRange(start, start + lines.texts[number].length);
  lookAt(number);
}

// --- the line that is looked at ---

function lookAt(number) {
  if (here !== number) {
    here = number;
    part("others").replaceChildren();
    unmark();
    showHere();
  }
}

function found() {
  return lines.known.get(lines.texts[here]);
}

function showHere() {
  for (const side of [backdrop, target]) {
    [...side.children].forEach((each, number) => each.classList.toggle("here", number === here));
  }
  part("line").hidden = !found();
  if (!found()) {
    return;
  }
  part("line-name").textContent = `Line ${here + 1}`;
  const notes = [...found().faults.map((fault) => note(fault, true)), ...found().terms.map(termNote)];
  part("notes").replaceChildren(...notes);
}

function note(what, isFault) {
  const item = document.createElement("li");
  item.textContent = what;
  item.classList.toggle("fault", isFault);
  return item;
}

function termNote({ start, end, allowed }) {
  const words = Array.from(lines.texts[here]).slice(start, end).join("");
  const used = allowed.find((each) => found().text.includes(each));
  return note(used ? `term: ${words} → ${used}` : `term: ${words} is not ${allowed.join(" or ")}`, !used);
}

async function showOthers() {
  const line = lines.texts[here];
  const before = found();
  try {
    const answer = await post("page/others", { line, text: before.text });
    if (lines.texts[here] !== line || found() !== before) {
      return; // another line is looked at
    }
    const items = answer.others.map((other) => choice(line, other));
    part("others").replaceChildren(...(items.length ? items : [note("There are no others.", false)]));
  } catch (error) {
    say(wrong(error));
  }
}

function choice(line, other) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.textContent = other.text;
  button.lang = target.lang;
  button.addEventListener("click", () => {
    lines.known.set(line, { ...other, terms: lines.known.get(line).terms });
    part("others").replaceChildren();
    show("");
    part("more").focus();
  });
  item.append(button);
  return item;
}

// --- words that belong together ---

function unmark() {
  for (const side of [backdrop, target]) {
    [...side.children].forEach((each) => mark(each, [], "linked"));
  }
  tell("word", HINT);
}

// Side 0 is the text, 1 its translation.
function lookAtWord(number, side, place) {
  looked = `${number} ${side} ${place}`;
  lookAt(number);
  clearTimeout(looking);
  if (!found()) {
    return;
  }
  if (!found().links) {
    looking = setTimeout(() => fetchLinks(number, side, place), STILL);
    return;
  }
  const line = lines.texts[number];
  const [ours, theirs] = linked([line, found().text], found().links, side, place);
  mark(backdrop.children[number], ours, "linked");
  mark(target.children[number], theirs, "linked");
  const pair = `${text(line, ours)} → ${text(found().text, theirs)}`;
  tell("word", ours.length ? pair : HINT);
}

async function fetchLinks(number, side, place) {
  const line = lines.texts[number];
  const known = lines.known.get(line);
  if (!known || known.isAsked) {
    return;
  }
  known.isAsked = true;
  try {
    known.links = (await post("page/links", { line, text: known.text })).links;
  } catch (error) {
    say(wrong(error));
    return;
  } finally {
    known.isAsked = false;
  }
  show(part("status").textContent);
  if (here === number && lines.texts[number] === line) {
    lookAtWord(...looked.split(" ").map(Number)); // another word of the line by now, perhaps
  }
}

function wordUnder(event, side) {
  const root = [backdrop, target][side];
  const under = document.elementsFromPoint(event.clientX, event.clientY);
  const word = under.find((each) => root.contains(each) && each.dataset.start !== undefined);
  if (word) {
    lookAtWord([...root.children].indexOf(word.parentElement), side, Number(word.dataset.start));
  }
}

function wordAtCaret() {
  if (document.activeElement !== source) {
    return;
  }
  const before = source.value.slice(0, source.selectionStart).split("\n");
  const number = before.length - 1;
  const isTyping = performance.now() - typed < STILL;
  if (isTyping || number >= target.children.length) {
    lookAt(number);
  } else {
    lookAtWord(number, 0, Array.from(before[number]).length);
  }
}

// --- the beginning ---

async function copy() {
  try {
    await navigator.clipboard.writeText(translation());
    say("Copied.");
  } catch {
    getSelection().selectAllChildren(target); // the page is not on a secure address
    say(document.execCommand("copy") ? "Copied." : "The translation is selected: copy it with the keyboard.");
  }
}

function askForKey() {
  source.disabled = true;
  part("key-form").hidden = false;
  part("key").focus();
}

function useKey(event) {
  event.preventDefault();
  setKey(part("key").value);
  part("key-form").hidden = true;
  source.disabled = false;
  source.focus();
  typedText();
}

function typedText() {
  typed = performance.now();
  unmark();
  part("others").replaceChildren();
  lines.set(source.value);
  show(part("status").textContent);
}

async function start() {
  const settings = await ask("frontend/settings");
  const { source: from, target: to } = settings.language;
  document.title = `${from.name} → ${to.name}`;
  part("title").textContent = document.title;
  part("source-name").textContent = from.name;
  part("target-name").textContent = to.name;
  source.lang = from.code;
  target.lang = to.code === "zh" ? "zh-Hans" : to.code;
  part("file").accept = settings.supportedFilesFormat.join(",");
  if (settings.keyRequired && !hasKey()) {
    askForKey();
  }
  startDocuments(settings.language);
  try {
    source.value ||= decodeURIComponent(location.hash.slice(1)); // the address may end in #text
  } catch {
    // what is behind # is no text
  }
  if (!source.disabled) {
    typedText();
  }
}

source.addEventListener("input", typedText);
source.addEventListener("pointermove", (event) => wordUnder(event, 0));
target.addEventListener("pointermove", (event) => wordUnder(event, 1));
target.addEventListener("click", (event) => wordUnder(event, 1)); // a finger does not hover
document.addEventListener("selectionchange", wordAtCaret);
part("copy").addEventListener("click", copy);
part("more").addEventListener("click", showOthers);
part("key-form").addEventListener("submit", useKey);
start().catch((error) => say(wrong(error)));
