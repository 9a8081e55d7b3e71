"use strict";
// Behind the engine, in a thread of its own: first the model comes, then lines.

const SETTINGS = [
  "beam-size: 1",
  "gemm-precision: int8shiftAlphaAll",
  "skip-cost: true",
  "cpu-threads: 0",
  "quiet: true",
  "quiet-translation: true",
  "max-length-break: 128", // tokens of a sentence
  "mini-batch-words: 1024",
  "workspace: 128", // megabytes
  "max-length-factor: 2.0",
].join("\n");
// What the engine asks for, and what it has itself: Firefox has faster ones.
const PRODUCTS = {
  int8_prepare_a: "int8PrepareAFallback",
  int8_prepare_b: "int8PrepareBFallback",
  int8_prepare_b_from_transposed: "int8PrepareBFromTransposedFallback",
  int8_prepare_b_from_quantized_transposed: "int8PrepareBFromQuantizedTransposedFallback",
  int8_prepare_bias: "int8PrepareBiasFallback",
  int8_multiply_and_add_bias: "int8MultiplyAndAddBiasFallback",
  int8_select_columns_of_b: "int8SelectColumnsOfBFallback",
};
let engine = null;
let service = null;
let model = null;

function decoded(base64) {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < characters.length; i++) {
    bytes[i] = characters.charCodeAt(i);
  }
  return bytes;
}

function begin(files) {
  const products = Object.entries(PRODUCTS).map(([asked, own]) => [
    asked,
    (...numbers) => engine.asm[own](...numbers),
  ]);
  engine = {
    instantiateWasm: (imports, accept) => {
      const all = { ...imports, wasm_gemm: Object.fromEntries(products) };
      WebAssembly.instantiate(decoded(files.wasm), all).then(
        ({ instance }) => accept(instance),
        fail,
      );
      return {};
    },
    onRuntimeInitialized: () => attempt(() => load(files)),
  };
  startEngine(engine);
}

function load(files) {
  const vocabularies = new engine.AlignedMemoryList();
  vocabularies.push_back(memory(decoded(files.src), 64));
  if (files.tgt) {
    vocabularies.push_back(memory(decoded(files.tgt), 64));
  }
  const weights = memory(decoded(files.model), 256);
  const shortlist = memory(new Uint8Array(0), 64); // none
  service = new engine.BlockingService({ cacheSize: 0 });
  model = new engine.TranslationModel(SETTINGS, weights, shortlist, vocabularies, null);
  self.postMessage({});
}

function memory(bytes, alignment) {
  const place = new engine.AlignedMemory(bytes.length, alignment);
  place.getByteArrayView().set(bytes);
  return place;
}

function translated(line) {
  const lines = new engine.VectorString();
  const options = new engine.VectorResponseOptions();
  lines.push_back(line);
  options.push_back({ qualityScores: false, alignment: false, html: false });
  const answers = service.translate(model, lines, options);
  const text = answers.get(0).getTranslatedText();
  for (const used of [answers, options, lines]) {
    used.delete();
  }
  return text;
}

function fail(error) {
  self.postMessage({ error: String(error) });
}

function attempt(task) {
  try {
    task();
  } catch (error) {
    fail(error);
  }
}

self.onmessage = ({ data }) =>
  attempt(() => {
    if (data.wasm) {
      begin(data);
    } else {
      self.postMessage({ text: translated(data.line) });
    }
  });
