// Asking the server: requests, and a check with its progress.
"use strict";

// The sentence behind it says the rest.
const verdicts = { holds: "✓", violated: "✗", unknown: "?", error: "Error.", timeout: "Time-out.", "not-applicable": "–", not_applicable: "–" };
// The time between two looks at how far a check is.
const GLANCE = 400;

async function ask(path, body, signal) {
  const options = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, { ...options, signal });
  const kind = answer.headers.get("Content-Type") ?? "";
  const value = kind.startsWith("application/json") ? await answer.json() : await answer.text();
  if (!answer.ok) throw new Error(value.message ?? `the server answers ${answer.status}`);
  return value;
}

const token = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), part => part.toString(16)).join("");

// One check. `progress` hears how far it is; the answer is null if it was stopped.
class Check {
  constructor(progress) {
    this.progress = progress;
    this.end = new AbortController();
  }

  async run(asked, seconds) {
    const name = token(), started = performance.now();
    let waits = true;
    const look = async () => {
      if (!waits) return;
      const passed = Math.floor((performance.now() - started) / 1000);
      const time = seconds ? `${passed} s of at most ${Math.round(seconds)} s` : `${passed} s`;
      let far = "";
      try {
        far = (await ask(`/api/progress?check=${name}`, null, this.end.signal)).text;
      } catch { /* The answer itself will say what is wrong. */ }
      if (!waits) return;
      this.progress([far, time].filter(part => part).join(", "));
      setTimeout(look, GLANCE);
    };
    setTimeout(look, GLANCE);
    try {
      return await ask("/api/check", { ...asked, token: name }, this.end.signal);
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    } finally {
      waits = false;
    }
  }

  stop() { this.end.abort(); }
}

// ---- permalinks: program and choices in the fragment, deflated where the browser can ----

const pack = bytes => btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const unpack = text => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), letter => letter.charCodeAt(0));
const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

async function fragmentOf(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return typeof CompressionStream === "undefined"
    ? "#b" + pack(bytes)
    : "#z" + pack(await through(bytes, new CompressionStream("deflate-raw")));
}

async function stateOf(fragment) {
  let bytes = unpack(fragment.slice(2));
  if (fragment[1] === "z") bytes = await through(bytes, new DecompressionStream("deflate-raw"));
  return JSON.parse(new TextDecoder().decode(bytes));
}

// The lines that the answer in a frame is at.
function hearLines(frame, look) {
  addEventListener("message", event => {
    const { ravelin, line, wanted } = event.data ?? {};
    if (event.source === frame.contentWindow && ravelin === "line" && Number.isInteger(line) && line > 0) look(line, wanted === true);
  });
}
