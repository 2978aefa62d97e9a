/** Keys alone reach everything, what has the focus is seen, nothing keeps it; and axe finds nothing wrong with any view in either theme. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { JOURNEY_MS, type Person, personAt } from "#harness/console/person";
import { type Server, startServer, threeTokens } from "#harness/server";

/** Tab should reach everything that can be pressed or filled in, except the cells of a table, which the arrows reach. */
const REACHABLE = "a[href], button:not(:disabled), input, select, textarea, summary, [tabindex='0'], .cm-content";

interface Focused {
  readonly what: string;
  readonly isSeen: boolean;
}

/** In the page: which of the reachable has the focus, as its number among them, and whether a person can see that it has. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return null;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
  const { width, height, bottom, top } = one.getBoundingClientRect();
  const marked = (outlineStyle !== "none" && outlineWidth !== "0px") || one.matches(".cm-content");
  return {
    what: one.dataset.reach ?? one.outerHTML.slice(0, 120),
    isSeen: marked && width > 0 && height > 0 && bottom > 0 && top < innerHeight,
  };
})()`;

/** Numbers what can be reached and is shown, and returns how many there are. */
const NUMBERED = `(() => {
  const shown = [...document.querySelectorAll(${JSON.stringify(REACHABLE)})].filter((one) => one.checkVisibility() && one.closest("details:not([open]) > :not(summary)") === null);
  shown.forEach((one, at) => { one.dataset.reach = at + " " + (one.getAttribute("aria-label") ?? one.innerText ?? one.name ?? one.tagName).slice(0, 60); });
  return shown.map((one) => one.dataset.reach);
})()`;

/** In the page: what had the focus each time Tab came up again, when the page has scrolled to it. */
const RECORDED = `window.focused = []; onkeyup = ({ key }) => { if (key === "Tab") focused.push(${FOCUSED}); }; undefined`;

/** Walks once around with Tab. Returns what was not reached, and where the focus could not be seen. */
async function walk({ page }: Person): Promise<{ readonly missed: readonly string[]; readonly unseen: readonly string[] }> {
  const wanted = await page.evaluate<string[]>(NUMBERED);
  let missed: readonly string[] = wanted;
  let focused: readonly (Focused | null)[] = [];
  await page.evaluate(RECORDED);
  await page.evaluate("document.activeElement?.blur()");
  // Twice around at most: a trap would go on for ever.
  for (let round = 0; round < 2 && missed.length > 0; round++) {
    for (let steps = 0; steps < wanted.length + 5; steps++) await page.keyboard.press("Tab");
    focused = await page.evaluate<readonly (Focused | null)[]>("focused");
    const reached = new Set(focused.map((one) => one?.what));
    missed = wanted.filter((one) => !reached.has(one));
  }
  return { missed, unseen: focused.flatMap((one) => (one === null || one.isSeen ? [] : [one.what])) };
}

async function fill(server: Server): Promise<void> {
  const { query, headers } = threeTokens("demo-page-token");
  const body = () => new URLSearchParams({ page_label_name: "gold" });
  for (let n = 0; n < 2; n++) await fetch(`${server.base_url}/v26.0/2001/custom_labels?${query}`, { method: "POST", headers, body: body() });
}

/** Each view, with something open where it opens something. */
const VIEWS = [
  ["/overview", "Apps"],
  ["/requests", "createLabel"],
  ["/explorer?operation=createLabel", "Code"],
  ["/graph?kind=labels&id=5001", "Related"],
  ["/webhooks?open=trigger", "Of the page"],
  ["/events", "No event yet"],
  ["/live?video=5301", "Opening night"],
  ["/feeds?upload=new", "From this computer"],
  ["/phone?account=6001", "To myself"],
  ["/tokens?token=new", "Scopes"],
  ["/time", "The world's clock"],
  ["/versions", "Requests of apps at a date"],
  ["/worlds", "Worlds of this server"],
  ["/faults", "Create a fault"],
  ["/settings", "Control keys"],
] as const;

test("no view is missing in the list below", () => {
  const text = readFileSync(join(import.meta.dir, "../../console/src/shell/views.ts"), "utf8");
  const known = [...text.matchAll(/path: "([^"]+)"/g)].map(([, path]) => path as string);
  // order: the walk may go from view to view in its own.
  expect(VIEWS.map(([path]) => path.replace(/\?.*/, "")).sort()).toEqual(known.sort());
});

for (const theme of ["light", "dark"] as const)
  test(
    `in the ${theme} theme Tab reaches everything in every view, the focus is visible, and axe finds no problem`,
    async () => {
      const server = await startServer([]);
      await fill(server);
      const person = await personAt(server, { theme });
      await person.shows("● live");
      for (const [path, text] of VIEWS) {
        await person.go(path);
        await person.shows(text, "● live");
        if (path.startsWith("/graph") || path.startsWith("/webhooks")) await person.page.locator(".cm-content").waitFor();
        expect({ path, violations: await person.violations() }).toEqual({ path, violations: [] });
        expect({ path, ...(await walk(person)) }).toEqual({ path, missed: [], unseen: [] });
      }
    },
    2 * JOURNEY_MS,
  );

test(
  "with keys only: from view to view by the palette, through a list with arrows, into a detail and out, a form filled and sent",
  async () => {
    const server = await startServer([]);
    await fill(server);
    const person = await personAt(server);
    const { keyboard } = person.page;
    await person.shows("createLabel");
    const focusedRole = () => person.page.evaluate<string | null>("document.activeElement.getAttribute('role') ?? document.activeElement.tagName");
    // To the list, and into what stands in it.
    while ((await focusedRole()) !== "grid") await keyboard.press("Tab");
    await keyboard.press("ArrowDown");
    await person.shows("Response");
    await keyboard.press("Escape");
    await person.page.getByText("Response").waitFor({ state: "hidden" });
    // By the palette to the explorer, and there to an operation.
    await keyboard.press("Control+k");
    await person.page.locator("[role=combobox]:focus").waitFor();
    await keyboard.type("explorer");
    await person.page.locator("[role=option]").nth(1).waitFor({ state: "hidden" });
    await keyboard.press("Enter");
    await person.page.getByRole("searchbox").waitFor();
    while ((await focusedRole()) !== "INPUT") await keyboard.press("Tab");
    await keyboard.type("createLabel");
    await person.shows("1 of ");
    while ((await focusedRole()) !== "grid") await keyboard.press("Tab");
    await keyboard.press("Home");
    await person.shows("page_label_name");
    const named = () => person.page.evaluate<string>("document.activeElement.labels?.[0]?.innerText ?? document.activeElement.innerText");
    while (!(await named()).startsWith("page_label_name")) await keyboard.press("Tab");
    await keyboard.type("silver");
    await keyboard.press("Enter");
    await person.shows("✓ 200", '"name": "silver"');
    await person.look("keys-alone");
  },
  JOURNEY_MS,
);

test(
  "the API reference is reached from the console, and axe finds no problem of ours in it",
  async () => {
    const server = await startServer([]);
    const person = await personAt(server);
    await person.shows("● live");
    await person.follow("API reference");
    await person.shows("Download OpenAPI Document");
    const found = await person.violations(LIBRARY);
    expect(found).toEqual([]);
  },
  JOURNEY_MS,
);

/** We cannot change the elements of Scalar, only our own page around them. */
const LIBRARY = ["#reference"];
