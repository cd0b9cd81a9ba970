// Lectures and documents: every program has an editor of its own, and is checked where it stands.
"use strict";

const element = (name, classes, text) => {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  if (text !== undefined) made.textContent = text;
  return made;
};

// A program of a lecture: its text area becomes an editor, with a question below it.
class Exercise {
  constructor(section, setup) {
    this.section = section;
    this.setup = setup;
    const { language, question, model, name } = section.dataset;
    Object.assign(this, { language, name });
    const area = section.querySelector("textarea");
    this.first = area.value;
    const numbers = element("div", "numbers"), sheet = element("div", "sheet"), layer = element("pre", "layer");
    numbers.setAttribute("aria-hidden", "true");
    layer.setAttribute("aria-hidden", "true");
    area.wrap = "off";
    const box = element("div", "editor"), list = element("ol", "diagnostics");
    list.setAttribute("aria-live", "polite");
    area.replaceWith(box);
    sheet.append(layer, area);
    box.append(numbers, sheet);
    box.style.height = `${Math.min(30, area.value.split("\n").length + 1) * 1.5 * 13.5 + 20}px`;
    this.question = this.select("Question", setup.questions.map(known => [known.name, known.title]), question);
    this.model = this.select("Model", [], "");
    this.wanted = model;
    this.question.addEventListener("change", () => this.models());
    this.model.addEventListener("change", () => { this.wanted = this.model.value; });
    this.models();
    this.start = this.button("Check", () => this.check());
    this.start.className = "run";
    this.stop = this.button("Stop", () => this.running?.stop());
    this.stop.hidden = true;
    this.again = this.button("As it was", () => { this.editor.load(this.first); this.again.hidden = true; });
    this.again.hidden = true;
    const open = this.button("Open in the playground", async () => {
      const state = { p: this.editor.text, l: language, q: this.question.value, m: this.model.value, n: name };
      location.href = "/" + await fragmentOf(state);
    });
    const row = element("div", "asking");
    row.append(this.question.parentElement, this.model.parentElement, this.start, this.stop, this.again, open);
    this.verdict = element("p", "verdict");
    this.verdict.setAttribute("role", "status");
    this.verdict.hidden = true;
    this.frame = element("iframe");
    this.frame.title = `The answer about ${name}`;
    this.frame.setAttribute("sandbox", "allow-scripts allow-modals allow-downloads");
    this.frame.hidden = true;
    section.append(list, row, this.verdict, this.frame);
    this.editor = new Editor({
      area, layer, numbers, list,
      language: () => language,
      changed: () => this.typed(),
      submit: () => this.check(),
    });
    this.editor.paint();
    hearLines(this.frame, (line, wanted) => this.editor.look(line, wanted));
  }

  select(label, entries, chosen) {
    const select = element("select"), around = element("label", "", label);
    around.append(" ", select);
    select.append(...entries.map(([value, text]) => new Option(text, value)));
    if (chosen) select.value = chosen;
    return select;
  }

  models() {
    const known = this.setup.questions.find(known => known.name === this.question.value);
    this.model.replaceChildren(...known.models.map(name => new Option(name === "all" ? "all, side by side" : name, name)));
    this.model.value = known.models.includes(this.wanted) ? this.wanted : known.models.includes("tso") ? "tso" : known.models[0];
  }

  button(text, act) {
    const made = element("button", "", text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  typed() {
    this.again.hidden = this.editor.text === this.first;
    clearTimeout(this.typing);
    this.typing = setTimeout(async () => {
      const asked = this.editor.text;
      try {
        const answer = await ask("/api/diagnose", { program: asked, language: this.language });
        if (asked === this.editor.text) this.editor.tell(answer.diagnostics ?? []);
      } catch { /* The check will say what is wrong. */ }
    }, 350);
  }

  show(kind, text, result) {
    this.verdict.hidden = false;
    this.verdict.className = `verdict ${kind}`;
    const head = element("b", "", verdicts[kind] ?? "");
    this.verdict.replaceChildren(...(verdicts[kind] ? [head] : []), text);
    this.frame.hidden = !result;
    if (result) this.frame.src = result;
  }

  async check() {
    this.running?.stop();
    const mine = this.running = new Check(far => { if (mine === this.running) this.verdict.textContent = `Checking: ${far}`; });
    this.stop.hidden = false;
    this.show("busy", "Checking", null);
    const asked = { program: this.editor.text, language: this.language, question: this.question.value, model: this.model.value, name: this.name };
    try {
      const answer = await mine.run(asked, this.setup.limits.seconds);
      if (mine !== this.running) return;
      if (answer === null) return this.show("", "The check was stopped.", null);
      if (this.editor.text === asked.program) this.editor.tell(answer.diagnostics ?? []);
      this.show(answer.verdict, answer.summary, answer.result);
    } catch (error) {
      if (mine === this.running) this.show("error", error.message, null);
    } finally {
      if (mine === this.running) { this.running = undefined; this.stop.hidden = true; }
    }
  }
}

const exercises = [];

(async () => {
  for (const listing of document.querySelectorAll(".listing[data-language]")) {
    highlight.lines([...listing.querySelectorAll(".l > code")], listing.dataset.language);
  }
  const programs = document.querySelectorAll("section.program");
  if (programs.length > 0) {
    const setup = await ask("/api/setup");
    for (const section of programs) exercises.push(new Exercise(section, setup));
  }
  document.body.dataset.ready = "yes";
})();
