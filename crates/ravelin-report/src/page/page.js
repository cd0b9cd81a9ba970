// Stepping through runs. Everything that is shown is in the page: the data of a run stands beside it (see data.rs for its form).
(() => {
  const WINDOW = 250; // rows of a long run that are in the page at a time
  const SNAPSHOT = 256; // steps between states that are kept
  document.documentElement.classList.add("js");

  const make = (name, classes, text) => {
    const element = document.createElement(name);
    if (classes) element.className = classes;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const pairs = (list) => {
    const out = [];
    for (let i = 0; list && i + 1 < list.length; i += 2) out.push([list[i], list[i + 1]]);
    return out;
  };

  // Whoever shows this page in a frame, such as the page of `ravelin serve`, hears which line is looked at.
  const announce = (line, wanted) => {
    if (window.parent !== window) window.parent.postMessage({ ravelin: "line", line, wanted }, "*");
  };

  let active = null;
  const runs = [];

  class Run {
    constructor(section) {
      this.section = section;
      this.demonstration = section.closest(".demonstration") || section;
      this.data = JSON.parse(section.querySelector("script").textContent);
      this.steps = this.data.x;
      this.body = section.querySelector("tbody");
      this.scroller = section.querySelector(".steps");
      this.slider = section.querySelector("input");
      this.output = section.querySelector("output");
      this.panel = section.querySelector(".state");
      this.long = this.steps.length > WINDOW;
      this.parts = this.steps.some((step) => step[4] >= 0);
      this.decisive = this.data.d;
      this.first = 0; // the number of the first row that is there
      this.at = -1;
      this.kept = [this.initial()];
      this.columns = new Map(this.data.c.map((thread, column) => [thread, column]));
      this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
      for (const button of section.querySelectorAll("[data-go]")) button.addEventListener("click", () => this.move(button.dataset.go));
      this.body.addEventListener("click", (event) => {
        const row = event.target.closest("tr[data-step]");
        if (row) this.go(Number(row.dataset.step));
      });
      this.demonstration.addEventListener("click", (event) => {
        const line = event.target.closest(".source .l");
        if (line) this.goToLine(Number(line.dataset.line));
        const node = event.target.closest(".hb [data-steps]");
        if (node) this.go(Number(node.dataset.steps.split(" ")[0]) + 1);
      });
      section.addEventListener("pointerdown", () => (active = this));
      section.addEventListener("focusin", () => (active = this));
      if (this.long) {
        let waits = false;
        this.scroller.addEventListener("scroll", () => {
          if (waits) return;
          waits = true;
          requestAnimationFrame(() => { waits = false; this.scrolled(); });
        });
      }
      this.go(this.decisive, true);
      // What is folded has no size, and its boxes cannot be scrolled.
      for (let fold = section.closest("details"); fold; fold = fold.parentElement.closest("details")) {
        fold.addEventListener("toggle", () => this.go(this.at, true));
      }
    }

    text(number) { return this.data.s[number]; }

    // Memory, registers and buffers before the first step: memory and registers by number of the name.
    initial() {
      const { m, r, t } = this.data;
      return { memory: new Map(pairs(m)), registers: r.map((list) => new Map(pairs(list))), buffers: t.map(() => []) };
    }

    follow(state, step) {
      const thread = step[0];
      for (const [cell, value] of pairs(step[6])) state.memory.set(cell, value);
      for (const [register, value] of pairs(step[7])) state.registers[thread].set(register, value);
      const splice = step[9];
      if (splice && splice.length) state.buffers[thread].splice(splice[0], splice[1], ...pairs(splice.slice(2)));
    }

    // The state after some steps, from the nearest one that was kept.
    after(steps) {
      const copy = (state) => ({
        memory: new Map(state.memory),
        registers: state.registers.map((map) => new Map(map)),
        buffers: state.buffers.map((list) => list.slice()),
      });
      while (this.kept.length <= Math.floor(steps / SNAPSHOT)) {
        const next = copy(this.kept[this.kept.length - 1]);
        const from = (this.kept.length - 1) * SNAPSHOT;
        for (let i = from; i < from + SNAPSHOT; i++) this.follow(next, this.steps[i]);
        this.kept.push(next);
      }
      const nearest = Math.floor(steps / SNAPSHOT);
      const state = copy(this.kept[nearest]);
      for (let i = nearest * SNAPSHOT; i < steps; i++) this.follow(state, this.steps[i]);
      return state;
    }

    move(where) {
      const to = { first: 0, back: this.at - 1, on: this.at + 1, last: this.steps.length }[where];
      this.go(Math.max(0, Math.min(this.steps.length, to)));
    }

    // The next step on a line of the source, or the first one; without one the line alone.
    goToLine(line) {
      for (let ahead = 1; ahead <= this.steps.length; ahead++) {
        const number = (this.at + ahead - 1) % this.steps.length;
        if (this.steps[number][1] === line) return this.go(number + 1);
      }
      announce(line, true);
    }

    go(steps, quiet) {
      this.at = steps;
      if (!quiet) active = this;
      const step = steps > 0 ? this.steps[steps - 1] : null;
      this.slider.value = steps;
      this.output.textContent = step ? `step ${steps} of ${this.steps.length}` : "before the first step";
      this.slider.setAttribute("aria-valuetext", this.output.textContent);
      if (this.long && !this.body.querySelector(`tr[data-step="${steps}"]`)) this.show(steps - WINDOW / 2);
      this.mark();
      this.reveal(this.body.querySelector("tr.now"), this.scroller);
      this.tell(step, this.after(steps));
      for (const line of this.demonstration.querySelectorAll(".source .l.now")) line.classList.remove("now");
      const line = step && step[1] ? this.demonstration.querySelector(`.source .l[data-line="${step[1]}"]`) : null;
      if (line) {
        line.classList.add("now");
        this.reveal(line, line.parentElement);
      }
      // Of several runs the first one says where it opens.
      if (step && step[1] && (!quiet || runs.length === 0)) announce(step[1], !quiet);
      for (const node of this.demonstration.querySelectorAll(".hb .event[data-steps]")) {
        node.classList.toggle("now", step !== null && node.dataset.steps.split(" ").includes(String(steps - 1)));
      }
    }

    mark() {
      for (const row of this.body.children) {
        const number = Number(row.dataset.step);
        row.classList.toggle("now", number === this.at);
        if (number === this.at) row.setAttribute("aria-current", "step");
        else row.removeAttribute("aria-current");
      }
    }

    // Scrolls inside a box, never the page.
    reveal(element, box) {
      if (!element) return;
      const inner = element.getBoundingClientRect(), outer = box.getBoundingClientRect();
      const head = box === this.scroller ? 40 : 0;
      if (inner.top < outer.top + head) box.scrollTop -= outer.top + head - inner.top + 20;
      else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 20;
      // On a narrow screen the thread that moves, with what it stores; memory at the right comes with a flush.
      const acts = element.querySelectorAll(".act, .leaves, .arrives");
      if (acts.length === 0) return;
      const first = acts[0].getBoundingClientRect(), last = acts[acts.length - 1].getBoundingClientRect();
      // The numbers stay where they are.
      const edge = outer.left + element.firstElementChild.offsetWidth;
      const over = Math.max(0, last.right - outer.right + 8);
      // The thread comes first if both do not fit.
      const back = Math.max(0, edge - (first.left - over) + 8);
      if (over > 0 || first.left < edge) box.scrollLeft += over - (first.left - over < edge ? back : 0);
    }

    // A window of rows, from about this one on.
    show(from) {
      const last = Math.max(0, this.steps.length - WINDOW);
      this.first = Math.max(0, Math.min(last, Math.floor(from)));
      this.body.replaceChildren(...this.rows(this.first, Math.min(this.steps.length, this.first + WINDOW)));
    }

    // Rows one after the other, for which buffers need to be followed once.
    rows(first, last) {
      const state = this.after(Math.max(0, first - 1)), rows = [];
      const lengths = () => state.buffers.map((list) => list.length);
      for (let number = first; number <= last; number++) {
        const before = lengths();
        if (number > 0) this.follow(state, this.steps[number - 1]);
        rows.push(this.row(number, before, lengths()));
      }
      return rows;
    }

    scrolled() {
      const box = this.scroller, room = 200;
      const up = box.scrollTop < room && this.first > 0;
      const down = box.scrollTop + box.clientHeight > box.scrollHeight - room && this.first + WINDOW < this.steps.length;
      if (!up && !down) return;
      // What is looked at stays where it is.
      const kept = Number(this.body.children[up ? 0 : this.body.children.length - 1].dataset.step);
      const top = (number) => this.body.querySelector(`tr[data-step="${number}"]`).getBoundingClientRect().top;
      const before = top(kept);
      this.show(up ? this.first - WINDOW / 2 : this.first + WINDOW / 2);
      this.mark();
      box.scrollTop += top(kept) - before;
    }

    // A row, as run.rs makes it, if buffers have these lengths before and after it.
    row(number, before, after) {
      const row = make("tr");
      const cell = (classes, text) => row.appendChild(make("td", classes, text));
      const head = make("th", "", String(number));
      head.setAttribute("scope", "row");
      row.dataset.step = number;
      row.appendChild(head);
      const { c, b, m } = this.data;
      if (number === 0) {
        row.className = "start";
        if (this.parts) cell();
        for (const _ of c) { cell(); if (b) cell("lane"); }
        const cells = pairs(m).slice(0, 8).map(([name, value]) => `${this.text(name)} = ${value}`);
        cell("mem", cells.join(", ") + (m.length > 16 ? " …" : ""));
        return row;
      }
      const [thread, line, text, effect, part, flush, memory, , written] = this.steps[number - 1];
      const step = this.steps[number - 1];
      if (line) row.dataset.line = line;
      if (this.parts) {
        const named = cell("part");
        if (part >= 0) named.appendChild(make("abbr", "", this.text(part))).title = this.data.p[this.text(part)];
      }
      const changes = pairs(written ? written : memory).map(([name, value]) => `${this.text(name)} = ${value}`);
      const acting = this.columns.get(thread);
      const classes = (list) => list.filter(([is]) => is).map(([, name]) => name).join(" ");
      const named = classes([[flush, "flush"], [number === this.decisive, "decisive"]]);
      if (named) row.className = named;
      c.forEach((other, column) => {
        const through = (lane) => changes.length > 0 && (column > acting || (column === acting && lane && !flush));
        const act = cell(classes([[column === acting, "act"], [through(false), "through"]]));
        if (column === acting && !flush) {
          if (line) act.appendChild(make("span", "line", String(line)));
          act.appendChild(make("code", "", this.text(text)));
          if (this.text(effect)) act.appendChild(make("span", "effect", this.text(effect)));
        }
        if (!b) return;
        const lane = cell(classes([
          [true, "lane"], [before[other] > 0, "above"], [after[other] > 0, "below"],
          [through(true), "through"], [column === acting && flush, "leaves"],
        ]));
        if (column !== acting) return;
        const chip = ([name, value]) => lane.appendChild(make("span", "chip", `${this.text(name)}=${value}`));
        if (flush) pairs(written ? written : memory).forEach(chip);
        else if (after[other] > before[other]) pairs(step[9].slice(2)).filter(([name]) => name >= 0).forEach(chip);
      });
      cell(classes([[true, "mem"], [changes.length > 0, "arrives"]]), changes.join("  "));
      return row;
    }

    // The panel: memory, then for each thread its buffer and registers.
    tell(step, state) {
      const changed = (list) => new Set(pairs(list).map(([name]) => name));
      const values = (map, marked, kind) => {
        const list = make("dl");
        for (const [name, value] of map) {
          const entry = make("div", marked.has(name) ? "changed" : "");
          const term = make("dt", "", this.text(name));
          term.title = this.text(name);
          entry.dataset[kind] = this.text(name);
          entry.append(term, make("dd", "", String(value)));
          list.appendChild(entry);
        }
        return list;
      };
      const nodes = [make("h3", "", "Memory"), values(state.memory, step ? changed(step[6]) : new Set(), "cell")];
      for (const thread of this.data.c) {
        const block = make("div", "of-thread");
        block.dataset.thread = this.data.t[thread];
        block.appendChild(make("h3", "", this.data.t[thread]));
        if (this.data.b) {
          const buffer = make("div", "buffer");
          const waiting = state.buffers[thread];
          if (waiting.length === 0) buffer.appendChild(make("span", "faint", "nothing waits"));
          // The oldest stands at the right, next to memory.
          for (const [name, value] of waiting.slice(-64).reverse()) {
            buffer.appendChild(name < 0 ? make("span", "marker", "|") : make("span", "chip", `${this.text(name)}=${value}`));
          }
          if (waiting.length > 0) buffer.appendChild(make("span", "faint", "→ memory"));
          block.appendChild(buffer);
        }
        const mine = step && step[0] === thread ? changed(step[7]) : new Set();
        if (state.registers[thread].size > 0) block.appendChild(values(state.registers[thread], mine, "register"));
        if (block.children.length > 1) nodes.push(block);
      }
      this.panel.replaceChildren(...nodes);
    }

    // On paper the whole run is there.
    all() {
      if (this.long) this.body.replaceChildren(...this.rows(0, this.steps.length));
    }
  }

  for (const section of document.querySelectorAll("section.run")) {
    const run = new Run(section);
    section.ravelin = run;
    runs.push(run);
    active = active || run;
  }
  for (const code of document.querySelectorAll("[data-language]")) {
    highlight.lines([...code.querySelectorAll(".l > code")], code.dataset.language);
  }
  for (const code of document.querySelectorAll(".source .code")) {
    const first = code.querySelector(".now") || code.querySelector(".mark");
    if (first && first.offsetTop - code.offsetTop > code.clientHeight - 60) code.scrollTop = first.offsetTop - code.offsetTop - 60;
  }

  // A link to a line moves to its step, in the run of the same answer.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.line");
    if (!link) return;
    const target = document.getElementById(link.hash.slice(1)), line = Number(link.dataset.line);
    if (!target) return;
    event.preventDefault();
    const run = runs.find((run) => run.demonstration.contains(target));
    if (run) run.goToLine(line);
    else announce(line, true);
    const code = target.parentElement;
    code.scrollTop = target.offsetTop - code.offsetTop - 60;
    target.scrollIntoView({ block: "nearest" });
  });

  // A run that is folded opens when a link leads to it.
  const unfold = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", unfold);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.to-run");
    const target = link && document.getElementById(link.hash.slice(1));
    if (target) target.open = true;
  });
  unfold();

  // A graph that does not fit gets a small map: boxes, and the part that is in view.
  for (const frame of document.querySelectorAll(".graph .scroll")) {
    const picture = frame.querySelector("svg");
    const map = make("div", "map");
    map.setAttribute("aria-hidden", "true");
    const view = make("div", "view");
    const place = () => {
      const fits = frame.scrollWidth <= frame.clientWidth + 2;
      map.hidden = fits || frame.clientWidth === 0;
      if (map.hidden) return;
      if (map.children.length === 0) {
        const small = picture.cloneNode(true);
        for (const part of small.querySelectorAll("text, title, style, defs, path")) part.remove();
        for (const attribute of ["width", "height", "role", "aria-label"]) small.removeAttribute(attribute);
        for (const part of small.querySelectorAll("g")) for (const name of Object.keys(part.dataset)) delete part.dataset[name];
        map.append(small, view);
      }
      const share = (value) => `${(100 * value) / frame.scrollWidth}%`;
      view.style.left = share(frame.scrollLeft);
      view.style.width = share(frame.clientWidth);
    };
    const go = (event) => {
      const box = map.getBoundingClientRect();
      frame.scrollLeft = ((event.clientX - box.left) / box.width) * frame.scrollWidth - frame.clientWidth / 2;
    };
    map.addEventListener("pointerdown", (event) => { map.setPointerCapture(event.pointerId); go(event); });
    map.addEventListener("pointermove", (event) => { if (event.buttons) go(event); });
    frame.addEventListener("scroll", place);
    frame.after(map);
    new ResizeObserver(place).observe(frame);
    place();
  }
  document.addEventListener("keydown", (event) => {
    if (!active || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const target = event.target;
    if (target.closest && target.closest("input, textarea, select, [contenteditable]")) return;
    const where = { ArrowLeft: "back", ArrowRight: "on" }[event.key];
    const ends = { Home: "first", End: "last" }[event.key];
    const inside = target.closest && target.closest("section.run");
    if (where) active.move(where);
    else if (ends && inside) active.move(ends);
    else return;
    event.preventDefault();
  });
  addEventListener("beforeprint", () => runs.forEach((run) => run.all()));
  addEventListener("afterprint", () => runs.forEach((run) => run.long && (run.show(run.at - WINDOW / 2), run.mark())));
})();
