// The page of `ravelin serve`: an editor, a question, and the answer in a frame. Plain script; the server does the work.
"use strict";

const at = id => document.getElementById(id);
const [program, layer, numbers, list, verdict, frame] =
  ["program", "layer", "numbers", "diagnostics", "verdict", "result"].map(at);
const [example, language, question, model, title] = ["example", "language", "question", "model", "name"].map(at);

const endings = { rav: "rav", litmus: "litmus", txt: "trencher", rmm: "memorax", tpl: "rocker" };
let setup, running, reading, typing, remembered = 0;
// What the user chose, whether or not the question has it.
let wantedModel = "tso";
// The text that the shown answer is about, and its change.
let answered = null, change = null;

const editor = new Editor({
  area: program, layer, numbers, list,
  language: () => language.value || "rav",
  changed: typed,
  submit: () => check(),
});

// ---- asking ----

// Looks for errors a moment after the last key.
function typed() {
  verdict.classList.toggle("old", answered !== null && answered !== program.value);
  clearTimeout(typing);
  typing = setTimeout(() => { remember(); diagnose(); }, 350);
}

async function diagnose() {
  reading?.abort();
  const mine = reading = new AbortController();
  try {
    const answer = await ask("/api/diagnose", { program: program.value, language: language.value }, mine.signal);
    if (mine === reading) editor.tell(answer.diagnostics ?? []);
  } catch (error) {
    if (error.name !== "AbortError") editor.tell([{ severity: "warning", message: error.message }]);
  }
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", () => act(made));
  return made;
}

// A verdict, a text, and where the answer is. Of several models each with its own.
function show(kind, text, result, models = []) {
  const head = document.createElement("b");
  head.textContent = verdicts[kind] ?? "";
  verdict.className = `verdict ${kind}`;
  if (models.length > 1) {
    const side = models.map(one => {
      const part = document.createElement("span"), sign = document.createElement("b");
      part.className = `model ${one.verdict}`;
      sign.textContent = verdicts[one.verdict] ?? "";
      part.append(`${one.model ?? ""} `, sign, one.word);
      return part;
    });
    verdict.replaceChildren(...side);
  } else {
    verdict.replaceChildren(...(verdicts[kind] ? [head] : []), text);
  }
  at("actions").replaceChildren();
  frame.hidden = !result;
  if (result) {
    const link = document.createElement("a");
    link.href = result;
    link.target = "_blank";
    link.rel = "noopener";
    link.textContent = "Open on its own";
    at("actions").append(link, button("Save as HTML", made => save(made, result)));
    frame.src = result;
  }
  at("actions").hidden = !result;
}

async function check() {
  running?.stop();
  reading?.abort();
  const asked = { program: program.value, language: language.value, question: question.value, model: model.value, name: title.value };
  const mine = running = new Check(far => { if (mine === running) verdict.textContent = `Checking: ${far}`; });
  const started = performance.now();
  at("stop").hidden = false;
  editor.looked = null;
  answered = change = null;
  show("busy", "Checking", null);
  remember();
  try {
    const answer = await mine.run(asked, setup.limits.seconds);
    if (mine !== running) return;
    if (answer === null) return show("", "The check was stopped.", null);
    // What was typed meanwhile is looked at on its own.
    if (program.value === asked.program) {
      clearTimeout(typing);
      editor.tell(answer.diagnostics ?? []);
    }
    verdict.dataset.seconds = ((performance.now() - started) / 1000).toFixed(2);
    show(answer.verdict, answer.summary, answer.result, answer.models);
    answered = asked.program;
    verdict.classList.toggle("old", program.value !== answered);
    offer(asked, answer);
  } catch (error) {
    if (mine === running) show("error", error.message, null);
  } finally {
    if (mine === running) { running = undefined; at("stop").hidden = true; }
  }
}

// What to do next: apply the change of an answer, or look for one.
function offer(asked, answer) {
  change = answer.diff ?? null;
  if (change) {
    at("actions").append(button("Apply this fix", made => {
      if (!editor.apply(change)) { made.textContent = "The program has changed since"; return; }
      change = null;
      made.remove();
    }));
  } else if (answer.verdict === "violated" && ["robust", "reach", "trf"].includes(asked.question) && asked.model !== "sc" && answer.models?.length === 1) {
    const wanted = asked.question === "reach" ? "safety" : "fence";
    at("actions").append(button("Find fences", () => { question.value = wanted; models(); check(); }));
  }
}

// The answer as a file of its own, with a link to the program.
async function save(made, result) {
  try {
    const page = await ask(result);
    const note = document.createElement("p"), link = document.createElement("a");
    note.style.cssText = "max-width:92rem;margin:0 auto;padding:0 1.5rem 2rem";
    link.href = await remember();
    link.textContent = "Open it again";
    note.append("Made with ravelin serve. ", link, " to change the program, where the server runs.");
    const file = new Blob([page.replace("</main>", () => `</main>${note.outerHTML}`)], { type: "text/html" });
    const saved = document.createElement("a");
    saved.href = URL.createObjectURL(file);
    saved.download = `${(title.value || "program").replace(/[^\w.-]+/g, "-")}.html`;
    saved.click();
    setTimeout(() => URL.revokeObjectURL(saved.href), 10_000);
    made.textContent = "Saved";
  } catch (error) {
    made.textContent = error.message;
  }
  setTimeout(() => { made.textContent = "Save as HTML"; }, 2000);
}

// ---- choices ----

function options(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  if (entries.some(([value]) => value === chosen)) select.value = chosen;
}

// A question that does not have the model does not change what was wanted.
function models() {
  const known = setup.questions.find(known => known.name === question.value) ?? setup.questions[0];
  options(model, known.models.map(name => [name, name === "all" ? "all, side by side" : name]), wantedModel);
  if (model.value !== wantedModel && known.models.includes("tso")) model.value = "tso";
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
  for (const { name, title } of setup.lectures) {
    const link = document.createElement("a");
    link.href = `/lecture?name=${encodeURIComponent(name)}`;
    link.textContent = title;
    at("pages").append(link);
  }
}

async function choose() {
  if (!example.value) return;
  try {
    const name = example.value;
    const text = await ask(`/api/example?name=${encodeURIComponent(name)}`);
    running?.stop();
    title.value = name.split("/").pop();
    language.value = endings[name.split(".").pop().toLowerCase()] ?? "rav";
    editor.load(text);
    answered = change = null;
    show("", "Press Check, or Ctrl+Enter in the program.", null);
    remember();
    await diagnose();
  } catch (error) {
    show("error", error.message, null);
  }
}

// ---- links ----

async function remember() {
  const mine = ++remembered;
  const fragment = await fragmentOf({ p: program.value, l: language.value, q: question.value, m: model.value, n: title.value });
  // Packing takes time; what was written since then is the later one's.
  if (mine === remembered) history.replaceState(null, "", fragment);
  return location.href.split("#")[0] + fragment;
}

async function recall() {
  const fragment = location.hash;
  if (!/^#[bz]./.test(fragment)) return false;
  try {
    const state = await stateOf(fragment);
    const known = (select, value) => { if ([...select.options].some(option => option.value === value)) select.value = value; };
    editor.load(String(state.p ?? "").slice(0, setup.limits.program));
    title.value = String(state.n ?? "").slice(0, 100);
    known(language, state.l);
    known(question, state.q);
    wantedModel = String(state.m ?? "tso");
    models();
    return true;
  } catch {
    editor.load("");
    show("error", "The link is damaged: there is no program in it.", null);
    return true;
  }
}

// Whoever follows a link wants to see the answer.
async function arrive() {
  editor.paint();
  await diagnose();
  if (program.value && !editor.diagnostics.some(found => found.severity === "error")) check();
}

async function copied() {
  const address = await remember();
  const made = at("link");
  try {
    await navigator.clipboard.writeText(address);
    made.textContent = "Copied";
  } catch {
    made.textContent = "It is in the address bar";
  }
  setTimeout(() => { made.textContent = "Copy link"; }, 2000);
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
  at("stop").addEventListener("click", () => running?.stop());
  at("link").addEventListener("click", copied);
  question.addEventListener("change", () => { models(); remember(); });
  model.addEventListener("change", () => { wantedModel = model.value; remember(); });
  title.addEventListener("change", remember);
  language.addEventListener("change", () => { editor.paint(); diagnose(); });
  example.addEventListener("change", choose);
  hearLines(frame, (line, wanted) => { if (answered === program.value) editor.look(line, wanted); });
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
