/** The page that a browser gets if the console was not built. The page says that the port is a control API, and contains no data of worlds. */
import type { Context } from "hono";
import { wholeResponse } from "#http/web";

const HOME = `<p>This is the control API of a running Plaza. Requests below <code>/v1</code> need the control key:
<code>Authorization: Bearer {control_key}</code>. <code>plaza start</code> prints the key, and a sandbox stores the key in <code>control.key</code> in its data folder.
<p>The console is not built. <code>npm start</code>, or <code>node tools/console/build.mjs</code>, builds it.
<ul>
<li><a href="/docs">docs</a> is the API reference, which is made from <a href="/v1/openapi.json">v1/openapi.json</a>.
<li><a href="/healthz">healthz</a>, <a href="/readyz">readyz</a> and <a href="/metrics">metrics</a> need no key.
</ul>`;

/** Whether the client is a browser. Only browsers get this page, and other clients get the error for an unknown path. */
export const isBrowser = (c: Context): boolean => c.req.header("accept")?.includes("text/html") === true;

export const home = (): Response => plainPage("control API", HOME);

export const plainPage = (title: string, body: string): Response =>
  wholeResponse(
    `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Plaza: ${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}code{background:#8882;padding:.1em .3em}</style>
<h1>Plaza: ${title}</h1>
${body}
</html>
`,
    {
      "content-type": "text/html; charset=UTF-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
      "x-content-type-options": "nosniff",
      vary: "Accept",
    },
  );
