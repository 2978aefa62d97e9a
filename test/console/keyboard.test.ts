/**
 * Checks that the keyboard alone reaches every element, that the focus is visible and never trapped, and that axe finds no problem in any view and
 * theme.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { JOURNEY_MS, type Person, personAt } from "#harness/console/person";
import { type Server, startServer, threeTokens } from "#harness/server";

/**
 * A selector of the elements that Tab should reach: all that can be pressed or filled in, except the cells of a table, which the arrow keys reach.
 */
const REACHABLE = "a[href], button:not(:disabled), input, select, textarea, summary, [tabindex='0'], .cm-content";

interface Focused {
  readonly what: string;
  readonly isSeen: boolean;
}

/** A script for the page: the number of the reachable element that has the focus, and whether a person can see the focus. */
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

/** A script for the page: numbers the reachable elements that are shown, and returns their names. */
const NUMBERED = `(() => {
  const shown = [...document.querySelectorAll(${JSON.stringify(REACHABLE)})].filter((one) => one.checkVisibility() && one.closest("details:not([open]) > :not(summary)") === null);
  shown.forEach((one, at) => { one.dataset.reach = at + " " + (one.getAttribute("aria-label") ?? one.innerText ?? one.name ?? one.tagName).slice(0, 60); });
  return shown.map((one) => one.dataset.reach);
})()`;

/** A script for the page: records the focus each time a person releases Tab, because the page has scrolled by then. */
const RECORDED = `window.focused = []; onkeyup = ({ key }) => { if (key === "Tab") focused.push(${FOCUSED}); }; undefined`;

/** Walks around the page with Tab. Returns the elements that Tab did not reach, and those whose focus could not be seen. */
async function walk({ page }: Person): Promise<{ readonly missed: readonly string[]; readonly unseen: readonly string[] }> {
  const wanted = await page.evaluate<string[]>(NUMBERED);
  let missed: readonly string[] = wanted;
  let focused: readonly (Focused | null)[] = [];
  await page.evaluate(RECORDED);
  await page.evaluate("document.activeElement?.blur()");
  // The walk goes around the page at most twice, because it would never end if an element trapped the focus.
  for (let round = 0; round < 2 && missed.length > 0; round++) {
    for (let steps = 0; steps < wanted.length + 5; steps++) await page.keyboard.press("Tab");
    focused = await page.evaluate<readonly (Focused | null)[]>("focused");
    const reached = new Set(focused.map((one) => one?.what));
    missed = wanted.filter((one) => !reached.has(one));
  }
  return { missed, unseen: focused.flatMap((one) => (one === null || one.isSeen ? [] : [one.what])) };
}

/** Saves a picture of the console for people to look at, in each window size. */
async function lookAtAllSizes(person: Person, name: string, theme: string): Promise<void> {
  for (const [width, height] of SIZES) {
    await person.page.setViewportSize({ width, height });
    await person.look(`${name}-${width}-${theme}`);
  }
  await person.page.setViewportSize({ width: 1300, height: 760 });
}

async function fill(server: Server): Promise<void> {
  const { query, headers } = threeTokens("demo-page-token");
  const body = () => new URLSearchParams({ page_label_name: "gold" });
  for (let n = 0; n < 2; n++) await fetch(`${server.base_url}/v26.0/2001/custom_labels?${query}`, { method: "POST", headers, body: body() });
}

/** Each view, with an open detail if the view has details. */
const VIEWS = [
  ["/overview", "Apps"],
  ["/requests", "createLabel"],
  ["/explorer?operation=createLabel", "Code"],
  ["/graph?kind=labels&id=new", "Example name"],
  ["/webhooks?open=trigger", "Of the page"],
  ["/events", "No event yet"],
  ["/live?video=5301", "Opening night"],
  ["/feeds?upload=new", "From this computer"],
  ["/phone?account=6001", "To myself"],
  ["/tokens?token=new", "Scopes: "],
  ["/time", "The world's clock"],
  ["/versions", "The apps' requests on a date"],
  ["/worlds", "Worlds of this server"],
  ["/faults", "Create a fault"],
  ["/settings", "Control keys"],
] as const;

/** The sizes of the pictures: a desk, a laptop, a telephone. */
const SIZES = [
  [1440, 900],
  [1280, 760],
  [390, 844],
] as const;

test("no view is missing in the list below", () => {
  const text = readFileSync(join(import.meta.dir, "../../console/src/shell/views.ts"), "utf8");
  const known = [...text.matchAll(/path: "([^"]+)"/g)].map(([, path]) => path as string);
  // order: the walk may visit the views in its own order.
  expect(VIEWS.map(([path]) => path.replace(/\?.*/, "")).sort()).toEqual(known.sort());
});

for (const theme of ["light", "dark"] as const)
  test(
    `in the ${theme} theme Tab reaches everything in every view, the focus is visible, axe finds no problem, and nothing is wider than the window`,
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
        const [name = ""] = path.slice(1).split("?");
        await lookAtAllSizes(person, `views/${name}`, theme);
        expect({ path, ...(await walk(person)) }).toEqual({ path, missed: [], unseen: [] });
      }
    },
    2 * JOURNEY_MS,
  );

for (const theme of ["light", "dark"] as const)
  test(
    `in the ${theme} theme no view of a world without content is wider than the window, and axe finds no problem`,
    async () => {
      const server = await startServer([]);
      const body = JSON.stringify({ name: "empty", file: {} });
      const headers = { authorization: `Bearer ${server.control_key}` };
      expect((await fetch(`${server.control_url}/v1/worlds`, { method: "POST", headers, body })).status).toBe(201);
      const person = await personAt(server, { theme });
      await person.shows("● live");
      for (const [path] of VIEWS) {
        const [name = ""] = path.slice(1).split("?");
        await person.go(`/${name}?world=empty`);
        await person.shows("● live");
        await person.page.locator("h1").waitFor();
        await person.page.locator(".skeleton").first().waitFor({ state: "hidden" });
        expect({ path, violations: await person.violations() }).toEqual({ path, violations: [] });
        await lookAtAllSizes(person, `views-empty/${name}`, theme);
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
    // The keys move the focus to the list, and from there into its rows.
    while ((await focusedRole()) !== "grid") await keyboard.press("Tab");
    await keyboard.press("ArrowDown");
    await person.shows("Response");
    await keyboard.press("Escape");
    await person.page.getByText("Response", { exact: true }).waitFor({ state: "hidden" });
    // The person opens the explorer with the command palette, and there selects an operation.
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

/**
 * A selector of the elements of the library Scalar, which the check leaves out because we cannot change them. The rest of the page, which is our own,
 * is checked.
 */
const LIBRARY = ["#reference"];
