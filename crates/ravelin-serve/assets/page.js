// The page of `ravelin serve`: an editor, a question, and the answer in a frame. Plain script; the server does the work.
"use strict";

const at = id => document.getElementById(id);
const [program, layer, numbers, list, verdict, frame] =
  ["program", "layer", "numbers", "diagnostics", "verdict", "result"].map(at);
const [example, language, question, model] = ["example", "language", "question", "model"].map(at);

const LONGEST_PAINTED = 100_000;
const endings = { rav: "rav", litmus: "litmus", txt: "trencher", rmm: "memorax", tpl: "rocker" };
// The sentence behind it says the rest.
const verdicts = { holds: "✓", violated: "✗", unknown: "?", error: "Error.", timeout: "Time-out.", not_applicable: "–" };
let setup, diagnostics = [], running, reading, typing, remembered = 0;

// ---- the editor ----

// The offset of a line and a column; columns count characters, strings count UTF-16 units.
function offset(text, line, column) {
  let start = 0;
  for (let n = 1; n < line; n++) {
    const next = text.indexOf("\n", start);
    if (next < 0) return text.length;
    start = next + 1;
  }
  for (let n = 1; n < column && start < text.length; n++) start += text.codePointAt(start) > 0xffff ? 2 : 1;
  return start;
}

function range(diagnostic, text) {
  if (!diagnostic.line) return [0, 0];
  const start = offset(text, diagnostic.line, diagnostic.column ?? 1);
  const end = diagnostic.end_line ? offset(text, diagnostic.end_line, diagnostic.end_column ?? 1) : start;
  return [start, Math.max(end, Math.min(start + 1, text.length))];
}

function paint() {
  const text = program.value;
  const painted = text.length <= LONGEST_PAINTED;
  layer.parentElement.classList.toggle("plain", !painted);
  if (painted) {
    const marks = diagnostics.map(found => [...range(found, text), found.severity === "error" ? "wrong" : "doubtful"]);
    highlight(layer, text, language.value || "rav", marks);
  }
  const lines = text.split("\n").length;
  if (Number(numbers.dataset.lines) !== lines) {
    numbers.dataset.lines = lines;
    numbers.textContent = Array.from({ length: lines }, (_, n) => n + 1).join("\n") + "\n\n";
  }
  follow();
}

function follow() {
  layer.scrollTop = program.scrollTop;
  layer.scrollLeft = program.scrollLeft;
  numbers.scrollTop = program.scrollTop;
}

function tell(found) {
  diagnostics = found;
  list.replaceChildren(...found.map(diagnostic => {
    const item = document.createElement("li"), button = document.createElement("button");
    const place = document.createElement("span"), head = document.createElement("b");
    item.className = diagnostic.severity;
    button.type = "button";
    place.className = "place";
    place.textContent = diagnostic.line ? `${diagnostic.line}:${diagnostic.column}` : "";
    head.textContent = diagnostic.severity + ": ";
    button.append(place, head, diagnostic.message + (diagnostic.label ? ` (${diagnostic.label})` : ""));
    for (const more of [...(diagnostic.notes ?? []), ...(diagnostic.help ? [diagnostic.help] : [])]) {
      const small = document.createElement("small");
      small.textContent = more;
      button.append(small);
    }
    button.addEventListener("click", () => {
      const [start, end] = range(diagnostic, program.value);
      program.focus();
      program.setSelectionRange(start, end);
      const line = Math.max(0, (diagnostic.line ?? 1) - 5);
      program.scrollTop = line * parseFloat(getComputedStyle(program).lineHeight);
    });
    item.append(button);
    return item;
  }));
  paint();
}

// ---- asking ----

async function ask(path, body, signal) {
  const options = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, { ...options, signal });
  const kind = answer.headers.get("Content-Type") ?? "";
  const value = kind.startsWith("application/json") ? await answer.json() : await answer.text();
  if (!answer.ok) throw new Error(value.message ?? `the server answers ${answer.status}`);
  return value;
}

// Looks for errors a moment after the last key.
function typed() {
  diagnostics = [];
  paint();
  clearTimeout(typing);
  typing = setTimeout(() => { remember(); diagnose(); }, 350);
}

async function diagnose() {
  reading?.abort();
  reading = new AbortController();
  try {
    const answer = await ask("/api/diagnose", { program: program.value, language: language.value }, reading.signal);
    tell(answer.diagnostics ?? []);
  } catch (error) {
    if (error.name !== "AbortError") tell([{ severity: "warning", message: error.message }]);
  }
}

function show(kind, text, result) {
  const head = document.createElement("b");
  head.textContent = verdicts[kind] ?? "";
  verdict.className = `verdict ${kind}`;
  verdict.replaceChildren(...(verdicts[kind] ? [head] : []), text);
  frame.hidden = !result;
  if (result) {
    const link = document.createElement("a");
    link.href = result;
    link.target = "_blank";
    link.rel = "noopener";
    link.textContent = "Open on its own";
    verdict.append(" ", link);
    frame.src = result;
  }
}

async function check() {
  running?.abort();
  const mine = running = new AbortController();
  const started = performance.now();
  at("stop").hidden = false;
  show("busy", "Checking", null);
  remember();
  try {
    const asked = { program: program.value, language: language.value, question: question.value, model: model.value, name: example.value };
    const answer = await ask("/api/check", asked, mine.signal);
    if (mine !== running) return;
    clearTimeout(typing);
    if (answer.verdict === "error" || answer.diagnostics.length) tell(answer.diagnostics);
    const seconds = ((performance.now() - started) / 1000).toFixed(2);
    verdict.dataset.seconds = seconds;
    show(answer.verdict, answer.summary, answer.result);
  } catch (error) {
    if (mine !== running) return;
    if (error.name === "AbortError") show("", "The check was stopped.", null);
    else show("error", error.message, null);
  } finally {
    if (mine === running) { running = undefined; at("stop").hidden = true; }
  }
}

// ---- choices ----

function options(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  if (entries.some(([value]) => value === chosen)) select.value = chosen;
}

function models() {
  const known = setup.questions.find(known => known.name === question.value) ?? setup.questions[0];
  options(model, known.models.map(name => [name, name]), model.value || "tso");
}

function examples() {
  const groups = new Map();
  for (const { name, about } of setup.examples) {
    const cut = name.lastIndexOf("/");
    const folder = name.slice(0, cut);
    if (!groups.has(folder)) groups.set(folder, []);
    groups.get(folder).push(new Option(name.slice(cut + 1) + (about ? ` – ${about}` : ""), name));
  }
  for (const [folder, entries] of groups) {
    const group = document.createElement("optgroup");
    group.label = folder;
    group.append(...entries);
    example.append(group);
  }
}

async function choose() {
  if (!example.value) return;
  try {
    const name = example.value;
    const text = await ask(`/api/example?name=${encodeURIComponent(name)}`);
    program.value = text;
    language.value = endings[name.split(".").pop().toLowerCase()] ?? "rav";
    program.scrollTop = 0;
    show("", "", null);
    verdict.textContent = "Press Check, or Ctrl+Enter in the program.";
    remember();
    paint();
    await diagnose();
  } catch (error) {
    show("error", error.message, null);
  }
}

// ---- permalinks: program and choices in the fragment, deflated where the browser can ----

const pack = bytes => btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const unpack = text => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), letter => letter.charCodeAt(0));
const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

async function permalink() {
  const state = { p: program.value, l: language.value, q: question.value, m: model.value };
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return typeof CompressionStream === "undefined"
    ? "#b" + pack(bytes)
    : "#z" + pack(await through(bytes, new CompressionStream("deflate-raw")));
}

async function remember() {
  const mine = ++remembered;
  const fragment = await permalink();
  // Packing takes time; what was written since then is the later one's.
  if (mine === remembered) history.replaceState(null, "", fragment);
  return location.href.split("#")[0] + fragment;
}

async function recall() {
  const fragment = location.hash;
  if (!/^#[bz]./.test(fragment)) return false;
  try {
    let bytes = unpack(fragment.slice(2));
    if (fragment[1] === "z") bytes = await through(bytes, new DecompressionStream("deflate-raw"));
    const state = JSON.parse(new TextDecoder().decode(bytes));
    const known = (select, value) => { if ([...select.options].some(option => option.value === value)) select.value = value; };
    program.value = String(state.p ?? "").slice(0, setup.limits.program);
    known(language, state.l);
    known(question, state.q);
    models();
    known(model, state.m);
    return true;
  } catch {
    program.value = "";
    show("error", "The link is damaged: there is no program in it.", null);
    return true;
  }
}

// Whoever follows a link wants to see the answer.
async function arrive() {
  paint();
  await diagnose();
  if (program.value && !diagnostics.some(found => found.severity === "error")) check();
}

async function copied() {
  const address = await remember();
  const button = at("link");
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = "Copied";
  } catch {
    button.textContent = "It is in the address bar";
  }
  setTimeout(() => { button.textContent = "Copy link"; }, 2000);
}

// ---- beginning ----

async function begin() {
  try {
    setup = await ask("/api/setup");
  } catch (error) {
    show("error", error.message, null);
    return;
  }
  options(language, setup.languages.map(name => [name, name]), "rav");
  options(question, setup.questions.map(known => [known.name, known.title]), "robust");
  models();
  examples();
  at("asking").addEventListener("submit", event => { event.preventDefault(); check(); });
  at("stop").addEventListener("click", () => running?.abort());
  at("link").addEventListener("click", copied);
  question.addEventListener("change", models);
  language.addEventListener("change", () => { paint(); diagnose(); });
  example.addEventListener("change", choose);
  program.addEventListener("input", typed);
  program.addEventListener("scroll", follow);
  program.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); check(); }
  });
  addEventListener("hashchange", async () => { if (await recall()) arrive(); });
  if (await recall()) {
    await arrive();
  } else {
    example.value = "examples/sb.rav";
    await choose();
  }
  document.body.dataset.ready = "yes";
}

begin();
