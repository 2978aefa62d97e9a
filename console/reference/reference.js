/** Shows the documents, with the library that the build puts beside this file. It asks for them and for nothing else, and has no key. */

/** The console's choice (`console/src/shell/theme.ts`); the system's where it made none. */
const chosen = localStorage.getItem("plaza.theme");
const theme = chosen === "dark" || chosen === "light" ? chosen : undefined;
if (theme !== undefined) document.documentElement.dataset.theme = theme;
const isDark = theme === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";

// Some of the library's style sheets are made without the nonce, three of them as it is loaded.
const { nonce } = document.querySelector("script[nonce]");
const make = document.createElement.bind(document);
document.createElement = (name, options) => Object.assign(make(name, options), name === "style" ? { nonce } : {});
const { createApiReference } = await import("./%SCALAR%/standalone.esm.js");

const graph = document.querySelector("meta[name=graph]").content;

/** A document whose operations have their names as titles, e.g. "List labels", because addresses are alike and summaries are sentences. */
async function named(url) {
  const content = await (await fetch(url)).json();
  for (const item of Object.values(content.paths)) {
    for (const operation of Object.values(item)) {
      if (typeof operation?.operationId !== "string") continue;
      const words = operation.operationId.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      const texts = [operation.deprecated ? "**Discouraged for new integrations.**" : "", operation.summary, operation.description];
      operation.description = texts.filter(Boolean).join("\n\n");
      operation.summary = words[0].toUpperCase() + words.slice(1);
    }
  }
  return content;
}
const [graphDocument, controlDocument] = await Promise.all([named(`${graph}/openapi.json`), named("/v1/openapi.json")]);
createApiReference("#reference", {
  sources: [
    { title: "Graph", slug: "graph", content: graphDocument },
    { title: "Control API", slug: "control", content: controlDocument },
    { title: "Webhooks", slug: "webhooks", url: `${graph}/asyncapi.json` },
  ],
  forceDarkModeState: isDark ? "dark" : "light",
  hideDarkModeToggle: true,
  // Requests are made in the console, which has tokens; here is none.
  hideTestRequestButton: true,
  hideClientButton: true,
  // Nothing comes from, or goes to, anybody else.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  operationTitleSource: "summary",
  persistAuth: false,
});
