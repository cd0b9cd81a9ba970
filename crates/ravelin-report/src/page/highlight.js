// Colours for the languages: one pass over the text, a rule a kind of token. What no rule knows stays as it is.
// Pages colour their sources with it, and the page of `ravelin serve` its editor.
"use strict";

const highlight = (() => {
  const orders = "Relaxed|Acquire|Release|AcqRel|SeqCst|relaxed|acquire|release|acq_rel|seq_cst|consume|rlx|acq|rel|memory_order_\\w+";
  const words = {
    rav: "static|const|enum|match|thread|let|if|else|while|loop|break|continue|assert|assume|never|finally|havoc|in|atomic|fence|nop|wait|bcas|arithmetic|wrapping|max_value|bool|u8|u16|u32|u64|i8|i16|i32|i64|macro|fn|return|true|false|for",
    litmus: "exists|forall|locations|mov|movl|movq|movb|mfence|lfence|sfence|xchg|xchgl|lock|inc|incl|add|addl|cmp|cmpl|jne|je|int|atomic_int|C|X86|X86_64|if|else|while|P\\d+",
    trencher: "thread|initial|transition|end|read|write|local|check|mfence|noop|lock|unlock",
    memorax: "forbidden|predicates|data|process|registers|text|macro|endmacro|write|read|cas|fence|sfence|slfence|locked|either|or|if|then|else|while|goto|nop|my|for|some|syncrd|syncwr",
    c: "_Atomic|_Bool|atomic|auto|break|case|char|class|const|constexpr|continue|default|define|delete|do|double|else|enum|extern|false|float|for|goto|if|include|inline|int|long|namespace|new|nullptr|private|public|register|return|short|signed|sizeof|static|struct|switch|template|this|true|typedef|union|unsigned|using|void|volatile|while",
    rust: "as|async|await|break|const|continue|crate|dyn|else|enum|extern|false|fn|for|if|impl|in|let|loop|match|mod|move|mut|pub|ref|return|self|Self|static|struct|super|trait|true|type|unsafe|use|where|while",
    rocker: "max_value|global|na|track|fn|local|if|else|while|goto|load|store|naload|nastore|CAS|BCAS|FADD|wait|assert|fence|all|skip|repeat|end",
  };
  const comments = {
    rav: "//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)",
    litmus: "\\(\\*[\\s\\S]*?(?:\\*\\)|$)|//[^\\n]*",
    trencher: "#(?=\\s)[^\\n]*|#$",
    memorax: "/\\*[\\s\\S]*?(?:\\*/|$)|//[^\\n]*",
    rocker: "//[^\\n]*",
    c: "//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)",
    rust: "//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)",
  };
  const made = {};
  const rule = language => made[language] ??= new RegExp(
    `(?<comment>${comments[language]})|(?<string>"[^"\\n]*"?)|(?<number>\\b\\d[\\w_]*\\b)|` +
    `(?<order>\\b(?:${orders})\\b)|(?<keyword>\\b(?:${words[language]})\\b)|[A-Za-z_]\\w*`, "g");

  // The text as pieces [start, end, kind] that follow one another.
  function pieces(text, language) {
    const found = [];
    let at = 0;
    for (const match of text.matchAll(rule(language))) {
      const kind = Object.keys(match.groups).find(kind => match.groups[kind] !== undefined);
      if (!kind || match[0] === "") continue;
      if (match.index > at) found.push([at, match.index, ""]);
      at = match.index + match[0].length;
      found.push([match.index, at, kind]);
    }
    if (at < text.length) found.push([at, text.length, ""]);
    return found;
  }

  // Fills an element with the text, coloured; `marks` are ranges [start, end, class] to be underlined.
  const fill = (element, text, language, marks) => {
    const cuts = [...new Set(marks.flatMap(([start, end]) => [start, end]))].sort((a, b) => a - b);
    const parts = document.createDocumentFragment();
    for (const [start, end, kind] of pieces(text, language)) {
      const inner = cuts.filter(cut => cut > start && cut < end);
      const edges = [start, ...inner, end];
      for (let i = 0; i + 1 < edges.length; i++) {
        const classes = marks.filter(([from, to]) => from <= edges[i] && edges[i + 1] <= to).map(mark => mark[2]);
        parts.append(piece(text.slice(edges[i], edges[i + 1]), [kind, ...new Set(classes)].join(" ").trim()));
      }
    }
    // A last line that is empty has a height all the same.
    parts.append("\n");
    element.replaceChildren(parts);
  };

  const piece = (text, classes) => {
    if (!classes) return document.createTextNode(text);
    const span = document.createElement("span");
    span.className = classes;
    span.textContent = text;
    return span;
  };

  // Colours elements that hold a line each, one below the other.
  fill.lines = (elements, language) => {
    if (!words[language]) return;
    const texts = elements.map(element => element.textContent);
    const found = pieces(texts.join("\n"), language);
    let start = 0, next = 0;
    for (const [number, element] of elements.entries()) {
      const end = start + texts[number].length, parts = document.createDocumentFragment();
      while (next < found.length && found[next][1] <= start) next++;
      for (let i = next; i < found.length && found[i][0] < end; i++) {
        const [from, to, kind] = found[i];
        parts.append(piece(texts[number].slice(Math.max(from, start) - start, Math.min(to, end) - start), kind));
      }
      element.replaceChildren(parts);
      start = end + 1;
    }
  };
  return fill;
})();
