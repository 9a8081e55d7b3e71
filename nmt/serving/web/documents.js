// Documents: dropped or chosen, sent to the server, and fetched again in the other language.

import { ask } from "./server.js";
import { wrong } from "./lines.js";

const part = (id) => document.getElementById(id);

export function startDocuments(languages) {
  const chosen = part("file");
  chosen.addEventListener("change", () => {
    sendAll(chosen.files, languages);
    chosen.value = ""; // the same one can be chosen again
  });
  document.addEventListener("dragover", (event) => {
    if (hasFiles(event)) {
      event.preventDefault();
      document.body.classList.add("dropping");
    }
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) {
      document.body.classList.remove("dropping");
    }
  });
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    if (hasFiles(event)) {
      event.preventDefault();
      sendAll(event.dataTransfer.files, languages);
    }
  });
}

function hasFiles(event) {
  return event.dataTransfer.types.includes("Files");
}

async function sendAll(files, languages) {
  for (const file of [...files]) {
    await send(file, languages);
  }
}

async function send(file, { source, target }) {
  const item = document.createElement("li");
  item.textContent = `${file.name}: translating …`;
  part("files").append(item);
  const form = new FormData();
  form.append("source", source.code);
  form.append("target", target.code);
  form.append("file", file);
  try {
    const answer = await ask("translate_file", { method: "POST", body: form });
    item.replaceChildren(`${file.name}: `, link(answer.translatedFileUrl));
  } catch (error) {
    item.textContent = `${file.name}: ${wrong(error)}`;
    item.className = "fault";
  }
}

function link(address) {
  const { pathname } = new URL(address); // of this server, by whatever name it is called
  const found = document.createElement("a");
  found.href = pathname;
  found.download = "";
  found.textContent = "download the translation";
  return found;
}
