// Requests to the server, with the key that it may need.

const KEY = "nmt-key"; // in the memory of this tab

export function setKey(key) {
  sessionStorage.setItem(KEY, key.trim());
}

export function hasKey() {
  return sessionStorage.getItem(KEY) !== null;
}

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (hasKey()) {
    headers.Authorization = `Bearer ${sessionStorage.getItem(KEY)}`;
  }
  const answer = await fetch(path, { ...options, headers });
  const value = await answer.json();
  if (!answer.ok) {
    throw new Refusal(answer.status, value.error ?? `the server answers ${answer.status}`);
  }
  return value;
}

export function post(path, value, signal) {
  return ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
    signal,
  });
}
