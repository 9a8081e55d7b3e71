// The lines of the text and their translations. Each line is asked for once; what is no longer wanted is not waited for.

import { post, Refusal } from "./server.js";

const PAUSE = 250; // milliseconds without a key
const AGAIN = 1000; // milliseconds before a busy server is asked again
const CHUNK = 24; // lines of a request
const BUSY = [429, 503];

export class Lines {
  // `changed` is called with what to say when translations have come, or cannot.
  constructor(changed) {
    this.texts = [];
    this.known = new Map(); // line → {text, faults, terms, links}
    this.changed = changed;
    this.timer = 0;
    this.asked = null; // {lines, controller}
  }

  set(text) {
    this.texts = text.split("\n");
    const wanted = new Set(this.texts);
    if (this.asked && !this.asked.lines.every((line) => wanted.has(line))) {
      this.asked.controller.abort();
      this.asked = null;
    }
    this.later(PAUSE);
  }

  get missing() {
    return [...new Set(this.texts)].filter((line) => line.trim() && !this.known.has(line));
  }

  later(pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.next(), pause);
  }

  async next() {
    const lines = this.missing.slice(0, CHUNK);
    if (this.asked) {
      return;
    }
    if (!lines.length) {
      this.changed("");
      return;
    }
    const asked = { lines, controller: new AbortController() };
    this.asked = asked;
    this.changed("Translating …");
    try {
      const answer = await post("page/lines", { lines }, asked.controller.signal);
      lines.forEach((line, i) => this.known.set(line, answer.lines[i]));
      this.end(asked, "", 0);
    } catch (error) {
      const isBusy = error instanceof Refusal && BUSY.includes(error.status);
      if (error.name === "AbortError") {
        return; // another request follows
      }
      this.end(asked, isBusy ? "The server is busy; asking again …" : wrong(error), isBusy ? AGAIN : null);
    }
  }

  end(asked, said, pause) {
    if (this.asked === asked) {
      this.asked = null;
    }
    this.changed(said);
    if (pause !== null) {
      this.later(pause);
    }
  }
}

export function wrong(error) {
  return error instanceof Refusal ? error.message : "The server does not answer.";
}
