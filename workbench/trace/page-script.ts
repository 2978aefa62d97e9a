/** The script of a trace's page, and its style. The page is opened from a file, so it loads nothing. */

export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --bad: #c0392b; --good: #2e7d32; --mark: #7353ba; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a7a; --good: #81c784; --mark: #b39ddb; } }
* { box-sizing: border-box; }
body { margin: 0; font: 14px/1.45 system-ui, sans-serif; display: flex; flex-direction: column; height: 100vh; }
header { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; padding: .6rem 1rem; border-bottom: 1px solid var(--line); }
h1 { font-size: 1rem; margin: 0 auto 0 0; }
input, select, button { font: inherit; padding: .25rem .5rem; }
main { flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(20rem, 1fr) minmax(22rem, 1.2fr); }
#list, #detail { overflow: auto; }
#list { border-right: 1px solid var(--line); }
#list ol { list-style: none; margin: 0; padding: 0; }
#list h2 { font-size: .85rem; margin: 0; padding: .4rem 1rem; background: var(--soft); position: sticky; top: 0; backdrop-filter: blur(6px); }
#list button { display: grid; grid-template-columns: 4.5rem 1fr auto; gap: .6rem; width: 100%; text-align: left; border: 0; border-bottom: 1px solid var(--soft); background: none; color: inherit; cursor: pointer; padding: .3rem 1rem; }
#list button[aria-current="true"] { background: var(--soft); box-shadow: inset 3px 0 var(--mark); }
#list time { color: gray; font-variant-numeric: tabular-nums; }
.bad { color: var(--bad); } .good { color: var(--good); } .kind { color: var(--mark); }
#detail { padding: 1rem; }
#detail h2 { margin: 0 0 .5rem; font-size: 1.05rem; overflow-wrap: anywhere; }
#detail h3 { margin: 1rem 0 .3rem; font-size: .9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .8rem; margin: 0; }
dt { color: gray; } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .5rem; overflow: auto; max-height: 24rem; margin: .2rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.reason { border-left: 3px solid var(--bad); padding: .3rem .7rem; background: var(--soft); }
@media (max-width: 50rem) { main { grid-template-columns: 1fr; grid-template-rows: 1fr 1fr; } #list { border-right: 0; border-bottom: 1px solid var(--line); } }
`;

/** The script refers to `applyChanges`, `isFailure` and `reasonOf`, which the page defines before it. */
export const SCRIPT = String.raw`
const trace = JSON.parse(document.getElementById("trace").textContent);
const byId = (id) => document.getElementById(id);
const tests = new Map(trace.worlds.map(({ name, test }) => [name, test]));

const titleOf = (event) => {
  if (event.kind === "request") return event.request.operation === "unknown" ? event.request.method + " " + event.request.path : event.request.operation;
  if (event.kind === "control") return event.method + " " + event.path;
  if (event.kind === "webhook") return event.delivery.field + " of " + event.delivery.object;
  const keys = [...new Set(event.changes.map(({ key }) => key))];
  return keys.join(", ") + " changed";
};
const statusOf = (event) => {
  if (event.kind === "request") return String(event.request.status);
  if (event.kind === "control") return String(event.status);
  if (event.kind === "webhook") return event.delivery.status;
  return String(event.changes.length);
};
const node = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const pretty = (text) => {
  try { return JSON.stringify(JSON.parse(text), undefined, 2); } catch { return text; }
};
const facts = (pairs) => {
  const list = node("dl", {});
  for (const [name, value] of pairs) if (value !== undefined && value !== "") list.append(node("dt", { textContent: name }), node("dd", { textContent: String(value) }));
  return list;
};
const block = (title, text) => (text === undefined || text === "" ? [] : [node("h3", { textContent: title }), node("pre", { textContent: text })]);

/** The state of a world after the event with this number. */
const stateAfter = (world, n) => {
  let state = trace.worlds.find(({ name }) => name === world).first;
  for (const event of trace.events) if (event.n <= n && event.world === world && event.kind === "changes") state = applyChanges(state, event.changes);
  return state;
};
window.stateAtEnd = (world) => stateAfter(world, Infinity);

const detailOf = (event) => {
  const parts = [node("h2", { textContent: titleOf(event) })];
  const reason = event.kind === "request" ? reasonOf(event) : "";
  if (reason !== "") parts.push(node("p", { className: "reason", id: "reason", textContent: reason }));
  if (event.kind === "request") {
    const { method, path, query, status, duration_ms, app, time, trace_id, story, request_body, response_body } = event.request;
    parts.push(facts([["request", method + " " + path + (query === "" ? "" : "?" + query)], ["status", status], ["took", duration_ms.toFixed(1) + " ms"], ["app", app], ["world time", new Date(time * 1000).toISOString()], ["trace id", trace_id]]));
    if (story !== undefined) {
      parts.push(node("h3", { textContent: "Story" }));
      parts.push(facts([
        ...story.credentials.map((one) => ["token in " + one.place, one.refusal ?? [one.type, one.token && "id " + one.token, one.app && "app " + one.app].filter(Boolean).join(", ")]),
        ["node", story.node && story.node.type + " " + story.node.id], ["version", story.version.served], ["policy", story.policy && story.policy.name + ": " + story.policy.summary],
        ["needs", story.policy && [story.policy.kinds.join(" or "), ...story.policy.scopes].join(", ")], ["error", story.error], ["fault", story.fault],
        ...story.steps.map((step) => ["step " + step.name, step.duration_ms === undefined ? "" : step.duration_ms.toFixed(2) + " ms"]),
      ]));
      parts.push(...block("Parameters", story.parameters && pretty(story.parameters)));
    }
    parts.push(...block("Request body", request_body), ...block("Response", pretty(response_body)));
  } else if (event.kind === "control") parts.push(facts([["call", event.method + " " + event.path], ["status", event.status], ["detail", event.detail]]));
  else if (event.kind === "webhook") {
    const { delivery } = event;
    parts.push(facts([["to", delivery.callback ?? "no callback"], ["webhook id", delivery.webhook_id], ["about", delivery.entity], ["app", delivery.app], ["status", delivery.status + (delivery.reason ? " (" + delivery.reason + ")" : "")], ["events", delivery.updates]]));
    for (const [at, attempt] of delivery.attempts.entries()) parts.push(...block("Attempt " + (at + 1), [attempt.status ?? attempt.error, attempt.latency_ms === undefined ? "" : attempt.latency_ms + " ms", attempt.answer ?? ""].filter((one) => one !== "").join(", ")));
  } else {
    for (const { key, id, before, after, order } of event.changes) {
      if (order !== undefined) continue;
      const name = id === undefined ? key : key + " " + id;
      parts.push(node("h3", { textContent: name + (before === undefined ? " was added" : after === undefined ? " was removed" : " changed") }));
      if (before !== undefined) parts.push(node("pre", { className: "bad", textContent: JSON.stringify(before, undefined, 1) }));
      if (after !== undefined) parts.push(node("pre", { className: "good", textContent: JSON.stringify(after, undefined, 1) }));
    }
  }
  const related = trace.events.filter((other) => (event.kind !== "changes" && other.kind === "changes" && other.after.includes(event.n)) || (event.kind === "request" && other.kind === "webhook" && other.cause === event.n) || (event.kind === "webhook" && other.n === event.cause) || (event.kind === "changes" && event.after.includes(other.n)));
  if (related.length > 0) parts.push(node("h3", { textContent: "Belongs to this" }), ...related.map((other) => node("button", { textContent: titleOf(other) + " " + statusOf(other), onclick: () => show(other) })));
  const state = node("details", {}, node("summary", { textContent: "The world after this" }));
  state.addEventListener("toggle", () => { if (state.open && state.children.length === 1) state.append(node("pre", { textContent: JSON.stringify(stateAfter(event.world, event.n), undefined, 1) })); });
  parts.push(state);
  return parts;
};

let current;
const show = (event) => {
  current = event;
  byId("detail").replaceChildren(...detailOf(event));
  for (const button of document.querySelectorAll("#list button")) button.setAttribute("aria-current", String(button.dataset.n === String(event.n)));
  location.hash = "n" + event.n;
};

const draw = () => {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [kind, world, failed] = [byId("kind").value, byId("world").value, byId("failed").checked];
  const shown = trace.events.filter((event) => (kind === "" || event.kind === kind) && (world === "" || event.world === world) && (!failed || isFailure(event)) && (words.length === 0 || words.every((word) => (texts[event.n] ??= JSON.stringify(event).toLowerCase()).includes(word))));
  const list = node("ol", {});
  let last;
  for (const event of shown.slice(0, 5000)) {
    if (event.world !== last) list.append(node("li", {}, node("h2", { textContent: tests.get(event.world) ?? event.world })));
    last = event.world;
    const button = node("button", { onclick: () => show(event) }, node("time", { textContent: (event.ms / 1000).toFixed(3) }), node("span", {}, node("span", { className: "kind", textContent: event.kind + " " }), titleOf(event)), node("span", { className: isFailure(event) ? "bad" : "good", textContent: statusOf(event) }));
    button.dataset.n = event.n;
    list.append(node("li", {}, button));
  }
  byId("list").replaceChildren(list);
  byId("count").textContent = shown.length + " of " + trace.events.length + (trace.left_out === 0 ? "" : ", " + trace.left_out + " left out");
  if (current !== undefined) for (const button of document.querySelectorAll("#list button")) button.setAttribute("aria-current", String(button.dataset.n === String(current.n)));
};
const texts = {};
for (const { name, test } of trace.worlds) byId("world").append(node("option", { value: name, textContent: test }));
for (const id of ["search", "kind", "world", "failed"]) byId(id).addEventListener("input", draw);
draw();
const linked = trace.events.find(({ n }) => "#n" + n === location.hash);
if (linked !== undefined) show(linked);
`;
