/** A trace as one page, which opens from a file without a server and without the network; and the trace that a page contains. */
import { applyChanges } from "./changes.ts";
import { SCRIPT, STYLE } from "./page-script.ts";
import { isFailure, reasonOf, type Trace } from "./trace.ts";

const BEGIN = '<script type="application/json" id="trace">';
const END = "</script>";

/** The page contains the source text of these functions and the browser executes it, so that page and program cannot differ. */
const FUNCTIONS = Object.entries({ applyChanges, isFailure, reasonOf })
  .map(([name, made]) => `const ${name} = (() => ${functionText(made)})();`)
  .join("\n");

/**
 * Returns the source text of a function as an expression: brackets turn a function declaration into an expression, while an
 * arrow function already is one.
 */
function functionText(made: (...given: never[]) => unknown): string {
  return `(${made.toString()})`;
}

export function pageOf(trace: Trace): string {
  // The character `<` is escaped, because otherwise a text of the trace could end the script element of the page.
  const json = JSON.stringify(trace).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Plaza trace</title>
<style>${STYLE}</style>
<header>
<h1>Plaza trace</h1>
<input id="search" type="search" placeholder="search" aria-label="search">
<select id="kind" aria-label="kind"><option value="">everything</option><option value="request">requests</option><option value="webhook">webhooks</option><option value="control">control</option><option value="changes">changes</option></select>
<select id="world" aria-label="test"><option value="">all tests</option></select>
<label><input id="failed" type="checkbox"> failed only</label>
<span id="count"></span>
</header>
<main><nav id="list" aria-label="events"></nav><article id="detail"><p>Choose an event.</p></article></main>
${BEGIN}${json}${END}
<script>
${FUNCTIONS}
${SCRIPT}
</script>
</html>
`;
}

/** The trace that a page contains. Throws if the text is not the page of a trace. */
export function traceIn(page: string): Trace {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END, begin);
  if (begin === -1 || end === -1) throw new RangeError("the file is not a trace of plaza exec --trace");
  const trace = JSON.parse(page.slice(begin + BEGIN.length, end)) as Trace;
  if (trace.version !== 1) throw new RangeError(`the file was written in the form ${trace.version} by another version of Plaza`);
  return trace;
}
