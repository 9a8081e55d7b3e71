// Lines as elements whose words can be marked, and which words of a line and of its translation belong together.
// Places count characters as the server does, not as strings in JavaScript do.

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

// A line cut at the borders of ranges; each part knows where it begins.
export function parts(line, ranges) {
  const characters = Array.from(line);
  const borders = new Set([0, characters.length, ...ranges.flat()]);
  const places = [...borders].filter((at) => at <= characters.length).sort((a, b) => a - b);
  return places.slice(1).map((end, i) => {
    const part = document.createElement("span");
    part.textContent = characters.slice(places[i], end).join("");
    part.dataset.start = places[i];
    return part;
  });
}

export function mark(element, ranges, name) {
  for (const part of element.children) {
    const at = Number(part.dataset.start);
    part.classList.toggle(name, ranges.some(([start, end]) => start <= at && at < end));
  }
}

// Where a word is in a line, however many times.
export function occurrences(line, word) {
  const characters = Array.from(line);
  const wanted = Array.from(word);
  const found = [];
  for (let at = 0; wanted.length && at + wanted.length <= characters.length; at++) {
    if (wanted.every((character, i) => character === characters[at + i])) {
      found.push([at, at + wanted.length]);
    }
  }
  return found;
}

// The words of both sides that belong to a place of one of them: side 0 is the line, 1 its translation.
export function linked(pair, links, side, place) {
  const words = pair.map(wordsOf);
  const whole = (at, range) => words[at].find((word) => overlap(word, range)) ?? range;
  const own = whole(side, [place, place + 1]);
  const ranges = links.map(([start, end, from, to]) => [[start, end], [from, to]]);
  const found = ranges.filter((each) => overlap(each[side], own));
  return [0, 1].map((at) => found.map((each) => whole(at, each[at])));
}

function overlap([start, end], [from, to]) {
  return start < to && from < end;
}

export function text(line, ranges) {
  const characters = Array.from(line);
  const unique = [...new Set(ranges.map(String))].map((range) => range.split(",").map(Number));
  return unique
    .sort((a, b) => a[0] - b[0])
    .map(([start, end]) => characters.slice(start, end).join("").trim())
    .join(" … ");
}

// The ranges of words, and those of what is between them.
export function wordsOf(line) {
  let at = 0;
  return [...segmenter.segment(line)].map(({ segment }) => {
    const start = at;
    at += Array.from(segment).length;
    return [start, at];
  });
}
