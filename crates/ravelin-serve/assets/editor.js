// An editor: a text area over a coloured copy of its text, the numbers of its lines, and a list of what is wrong.
"use strict";

const LONGEST_PAINTED = 100_000;
const INDENT = 4;

class Editor {
  // `parts` are elements: area, layer, numbers, list. `language` gives the name of the language.
  constructor({ area, layer, numbers, list, language, changed, submit }) {
    Object.assign(this, { area, layer, numbers, list, language, changed, submit });
    this.diagnostics = [];
    this.looked = null;
    this.leaves = false;
    this.bar = document.createElement("div");
    this.bar.className = "looked";
    this.bar.hidden = true;
    layer.before(this.bar);
    area.addEventListener("input", () => this.input());
    area.addEventListener("scroll", () => this.follow());
    area.addEventListener("keydown", event => this.key(event));
  }

  get text() { return this.area.value; }

  // Another program: nothing of the old one stays.
  load(text) {
    this.area.value = text;
    this.area.scrollTop = 0;
    this.looked = null;
    this.tell([]);
  }

  input() {
    this.looked = null;
    // What was wrong may be right now; the list stays, pale, until the answer about the new text comes.
    this.diagnostics = [];
    this.list.classList.toggle("old", this.list.children.length > 0);
    this.paint();
    this.changed();
  }

  // ---- what is seen ----

  paint() {
    const text = this.text;
    const painted = text.length <= LONGEST_PAINTED;
    this.layer.parentElement.classList.toggle("plain", !painted);
    if (painted) {
      const marks = this.diagnostics.map(found => [...Editor.range(found, text), found.severity === "error" ? "wrong" : "doubtful"]);
      highlight(this.layer, text, this.language(), marks);
    }
    const lines = text.split("\n").length;
    if (Number(this.numbers.dataset.lines) !== lines) {
      this.numbers.dataset.lines = lines;
      this.numbers.textContent = Array.from({ length: lines }, (_, n) => n + 1).join("\n") + "\n\n";
    }
    this.follow();
  }

  follow() {
    this.layer.scrollTop = this.area.scrollTop;
    this.layer.scrollLeft = this.area.scrollLeft;
    this.numbers.scrollTop = this.area.scrollTop;
    this.bar.hidden = this.looked === null;
    if (this.looked === null) return;
    const style = getComputedStyle(this.area);
    this.bar.dataset.line = this.looked;
    this.bar.style.height = style.lineHeight;
    this.bar.style.top = `${parseFloat(style.paddingTop) + (this.looked - 1) * parseFloat(style.lineHeight) - this.area.scrollTop}px`;
  }

  // The answer is at this line.
  look(line, wanted) {
    if (line > this.text.split("\n").length) return;
    this.looked = line;
    const height = parseFloat(getComputedStyle(this.area).lineHeight), top = (line - 1) * height;
    const inside = top >= this.area.scrollTop && top + 2 * height <= this.area.scrollTop + this.area.clientHeight;
    if (wanted && !inside) this.area.scrollTop = Math.max(0, top - this.area.clientHeight / 2);
    this.follow();
  }

  tell(found) {
    this.diagnostics = found;
    this.list.classList.remove("old");
    this.list.replaceChildren(...found.map(diagnostic => this.item(diagnostic)));
    this.paint();
  }

  item(diagnostic) {
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
      const [start, end] = Editor.range(diagnostic, this.text);
      this.area.focus();
      this.area.setSelectionRange(start, end);
      const line = Math.max(0, (diagnostic.line ?? 1) - 5);
      this.area.scrollTop = line * parseFloat(getComputedStyle(this.area).lineHeight);
    });
    item.append(button);
    return item;
  }

  // The offset of a line and a column; columns count characters, strings count UTF-16 units.
  static offset(text, line, column) {
    let start = 0;
    for (let n = 1; n < line; n++) {
      const next = text.indexOf("\n", start);
      if (next < 0) return text.length;
      start = next + 1;
    }
    for (let n = 1; n < column && start < text.length; n++) start += text.codePointAt(start) > 0xffff ? 2 : 1;
    return start;
  }

  static range(diagnostic, text) {
    if (!diagnostic.line) return [0, 0];
    const start = Editor.offset(text, diagnostic.line, diagnostic.column ?? 1);
    const end = diagnostic.end_line ? Editor.offset(text, diagnostic.end_line, diagnostic.end_column ?? 1) : start;
    return [start, Math.max(end, Math.min(start + 1, text.length))];
  }

  // ---- keys ----

  key(event) {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (key === "Enter" && (ctrlKey || metaKey)) {
      event.preventDefault();
      return this.submit();
    }
    // Escape, and Tab leaves the editor: people without a mouse have to get out.
    const leaves = this.leaves;
    this.leaves = key === "Escape" || (leaves && key === "Shift");
    if (ctrlKey || metaKey || altKey || event.isComposing) return;
    const done = (key === "Tab" && !leaves && this.tab(shiftKey)) || (key === "Enter" && this.enter()) || (key === "}" && this.close());
    if (done) event.preventDefault();
  }

  // Replaces a part of the text in a way that can be undone.
  replace(start, end, text) {
    this.area.focus();
    this.area.setSelectionRange(start, end);
    const done = text ? document.execCommand("insertText", false, text) : start === end || document.execCommand("delete");
    if (!done) {
      this.area.setRangeText(text, start, end, "end");
      this.area.dispatchEvent(new Event("input"));
    }
  }

  tab(back) {
    const { selectionStart: start, selectionEnd: end, value: text } = this.area;
    const first = text.lastIndexOf("\n", start - 1) + 1;
    if (!back && !text.slice(start, end).includes("\n")) {
      this.replace(start, end, " ".repeat(INDENT - ((start - first) % INDENT)));
      return true;
    }
    const last = end > start && text[end - 1] === "\n" ? end - 1 : end;
    const lines = text.slice(first, last).split("\n");
    const moved = lines.map(line => (back ? line.replace(/^( {1,4}|\t)/, "") : line && " ".repeat(INDENT) + line)).join("\n");
    if (moved === lines.join("\n")) return true;
    const difference = moved.length - (last - first);
    this.replace(first, last, moved);
    if (lines.length > 1) this.area.setSelectionRange(first, last + difference);
    else this.area.setSelectionRange(Math.max(first, start + difference), Math.max(first, end + difference));
    return true;
  }

  enter() {
    const { selectionStart: start, selectionEnd: end, value: text } = this.area;
    const first = text.lastIndexOf("\n", start - 1) + 1, before = text.slice(first, start);
    const indent = /^[ \t]*/.exec(before)[0];
    const opens = /\{\s*$/.test(before.replace(/\/\/.*/, ""));
    const closes = opens && /^[ \t]*\}/.test(text.slice(end));
    const deeper = indent + (opens ? " ".repeat(INDENT) : "");
    this.replace(start, end, "\n" + deeper + (closes ? "\n" + indent : ""));
    if (closes) this.area.setSelectionRange(start + 1 + deeper.length, start + 1 + deeper.length);
    return true;
  }

  // A closing brace on a line of its own is as deep as the line that it closes.
  close() {
    const { selectionStart: start, selectionEnd: end, value: text } = this.area;
    const first = text.lastIndexOf("\n", start - 1) + 1, before = text.slice(first, start);
    if (start !== end || !/^ +$/.test(before)) return false;
    this.replace(Math.max(first, start - INDENT), end, "}");
    return true;
  }

  // Applies a unified diff; false if the text is not the one that it is for.
  apply(diff) {
    const lines = this.text.split("\n"), made = [];
    let at = 0;
    for (const hunk of diff.split(/^(?=@@ )/m).slice(1)) {
      const [head, ...body] = hunk.split("\n");
      const begins = /^@@ -(\d+)(?:,(\d+))? /.exec(head);
      if (!begins) return false;
      // A hunk without old lines stands behind the line that it names.
      const from = Number(begins[1]) - (begins[2] === "0" ? 0 : 1);
      if (from < at) return false;
      made.push(...lines.slice(at, from));
      at = from;
      for (const line of body) {
        if (line.startsWith("+")) made.push(line.slice(1));
        else if (line.startsWith("-") || line.startsWith(" ")) {
          if (lines[at] !== line.slice(1)) return false;
          if (line.startsWith(" ")) made.push(lines[at]);
          at++;
        } else if (line !== "" && !line.startsWith("\\")) return false;
      }
    }
    made.push(...lines.slice(at));
    this.replace(0, this.text.length, made.join("\n"));
    return true;
  }
}
