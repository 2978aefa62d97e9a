/** Checks that the pages for coding agents are complete and short, and have requests that the contracts allow. */
import { expect, test } from "bun:test";
import { openControl } from "#harness/control";
import { buildRegistry } from "#main";
import { llmsPages } from "./pages.ts";
import { guidePages } from "./text-pages.ts";

const guides = await guidePages();
const registry = buildRegistry();
const pages = llmsPages(registry);
/** The greatest size of a page, which is limited because an agent pays for each word. */
const PAGE_BYTES_MAX = 40_000;

test("every operation has one section, and each page is short", () => {
  const sections = [...pages.values()].flatMap((text) => [...text.matchAll(/^## (\w+)$/gm)].map(([, name]) => name as string));
  const names = registry.endpoints.map(({ access }) => access.operation);
  for (const name of new Set(names)) expect({ name, sections: sections.filter((one) => one === name).length }).toEqual({ name, sections: 1 });
  for (const [name, text] of pages) expect({ name, isShort: Buffer.byteLength(text) <= PAGE_BYTES_MAX }).toEqual({ name, isShort: true });
});

test("every operation has the address of a surface, also one that only the profile clients serves", () => {
  for (const [name, text] of pages) expect({ name, unknown: text.match(/^`[A-Z]+ \{undefined\}.*/gm) }).toEqual({ name, unknown: null });
  expect(pages.get("llms/login.md")).toContain("`GET {social_login_host}/{version}/refresh_access_token`");
});

test("llms.txt links to every other page", () => {
  const linked = [...(pages.get("llms.txt") ?? "").matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, path]) => path as string);
  expect(linked.filter((path) => path.startsWith("llms/"))).toEqual([...pages.keys()].slice(1));
  for (const path of linked) expect({ path, isServed: pages.has(path) || guides.has(path) }).toEqual({ path, isServed: true });
});

test("the control port serves the pages without a key", async () => {
  const { app } = await openControl();
  for (const name of ["llms.txt", "llms/personas.md", "guides/testing.md", "reference/world-files.md", "decisions/errors.md"]) {
    const response = await app.request(`/${name}`);
    expect({ status: response.status, type: response.headers.get("content-type") }).toEqual({ status: 200, type: "text/markdown; charset=utf-8" });
    expect(await response.text()).toBe((pages.get(name) ?? guides.get(name)) as string);
  }
  expect((await app.request("/llms/unknown.md")).status).toBe(404);
});
