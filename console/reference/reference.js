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
createApiReference("#reference", {
  sources: [
    { title: "Graph", slug: "graph", url: `${graph}/openapi.json` },
    { title: "Control API", slug: "control", url: "/v1/openapi.json" },
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
  // Summaries are sentences; the list beside them is of addresses.
  operationTitleSource: "path",
  persistAuth: false,
});
