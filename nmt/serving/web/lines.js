// The lines of the text and their translations. Each line is asked for once; what is no longer wanted is not waited for.

import { post, Refusal } from "./server.js";

const PAUSE = 250; // milliseconds without a key
const AGAIN = 1000; // milliseconds before a busy server is asked again
const CHUNK = 24; // lines of a request
const BUSY = [429, 503];
const FORBIDDEN = [401, 403];

export class Lines {
  // `changed` is called with what to say when translations have come, or cannot, and whether another key is needed.
  constructor(changed) {
    this.texts = [];
    this.known = new Map(); // line → {text, faults, terms, links}
    this.changed = changed;
    this.chunk = CHUNK;
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
    const lines = this.missing.slice(0, this.chunk);
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
      this.chunk = Math.min(2 * this.chunk, CHUNK);
      this.end(asked, "", 0);
    } catch (error) {
      this.refused(asked, error);
    }
  }

  refused(asked, error) {
    if (error.name === "AbortError") {
      return; // another request follows
    }
    const needsKey = FORBIDDEN.includes(error.status);
    if (!(error instanceof Refusal) || needsKey) {
      this.end(asked, wrong(error), null, needsKey);
    } else if (BUSY.includes(error.status)) {
      this.end(asked, "The server is busy; asking again …", AGAIN);
    } else {
      // One line may keep the others from being translated: they are tried one by one.
      if (asked.lines.length === 1) {
        this.known.set(asked.lines[0], { text: "", faults: [wrong(error)], terms: [] });
      }
      this.chunk = 1;
      this.end(asked, wrong(error), 0);
    }
  }

  end(asked, said, pause, needsKey = false) {
    if (this.asked === asked) {
      this.asked = null;
    }
    this.changed(said, needsKey);
    if (pause !== null) {
      this.later(pause);
    }
  }
}

export function wrong(error) {
  return error instanceof Refusal ? error.message : "The server does not answer.";
}
