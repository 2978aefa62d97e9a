import { expect, test } from "bun:test";
import { type ConsolePage, openConsole } from "#harness/console/console-page";
import { type Server, startServer, threeTokens } from "#harness/server";

const { query, headers } = threeTokens("demo-page-token");

const createLabel = (server: Server, name: string): Promise<Response> =>
  fetch(`${server.base_url}/v26.0/2001/custom_labels?${query}`, { method: "POST", headers, body: new URLSearchParams({ page_label_name: name }) });

const rows = (page: ConsolePage): Promise<number> => page.evaluate<number>("document.querySelectorAll('[role=grid] .body [role=row]').length");

test("a person creates a first label, sees its request arrive, and reads the reason for its response", async () => {
  const server = await startServer([]);
  const page = await openConsole(server);
  await page.shows("No request yet", "curl -H", "● live");
  await page.screenshot("requests-empty");
  expect((await createLabel(server, "gold")).status).toBe(200);
  await page.shows("createLabel");
  await page.press("[role=grid] .body [role=row]");
  const story = await page.shows("Caller", "page token", "Version", "served by v26.0", "Policy", "Steps", "Handle", "Response", "Caused webhooks");
  expect(story).toContain("page_label_name=gold");
  expect(story).not.toContain("demo-page-token");
  expect(await page.evaluate<string>("location.search")).toMatch(/request=\w+/);
  await page.screenshot("requests-story");
  // The server refuses the request when it is sent again, because the label already exists.
  await page.click("Send again");
  const refused = await page.shows("Refused", "In the catalogue", "It happens when");
  expect(refused).toContain("400");
  await page.screenshot("requests-refused");
  expect(await rows(page)).toBe(2);
  expect(page.page.problems.filter((problem) => !problem.includes("400"))).toEqual([]);
});

test("filters are part of the address, and an address shows the same to everybody", async () => {
  const server = await startServer([]);
  await createLabel(server, "gold");
  await createLabel(server, "gold");
  const page = await openConsole(server, "/requests?status=4");
  await page.shows("createLabel");
  expect(await rows(page)).toBe(1);
  await page.click("Refused 4xx");
  await page.shows("200", "400");
  expect(await page.evaluate<string>("location.search")).not.toContain("status");
  await page.fill("Part of path", "nothing-like-this");
  await page.shows("No request matches the filter");
});

test("keys alone reach everything: the palette, the list, the filter", async () => {
  const server = await startServer([]);
  await createLabel(server, "gold");
  await createLabel(server, "silver");
  const page = await openConsole(server, "/requests");
  await page.page.evaluateUntil<number>(
    server.control_url,
    "document.querySelectorAll('[role=grid] .body [role=row]').length",
    (count) => count === 2,
  );
  await page.evaluate("document.querySelector('[role=grid]').focus()");
  await page.page.press("ArrowDown");
  await page.shows("Response", "silver");
  await page.page.press("ArrowDown");
  await page.shows("gold");
  await page.page.press("Escape");
  await page.showsNot("Response");
  await page.page.press("/");
  expect(await page.evaluate<string>("document.activeElement.type")).toBe("search");
  await page.page.press("k", "Control");
  await page.page.evaluateUntil<boolean>(server.control_url, "document.querySelector('[role=dialog] input') === document.activeElement", Boolean);
  await page.page.type("Stop the clock");
  await page.page.evaluateUntil<number>(server.control_url, "document.querySelectorAll('[role=option]').length", (count) => count === 1);
  await page.screenshot("palette");
  await page.page.press("Enter");
  await page.shows("Run clock", "is stopped");
});

test("axe finds no problem in either theme, with the list empty, filled and opened, and in the palette", async () => {
  const server = await startServer([]);
  const page = await openConsole(server);
  await page.shows("No request yet", "● live");
  expect(await page.violations()).toEqual([]);
  await createLabel(server, "gold");
  await createLabel(server, "gold");
  // The list shows both the successful and the refused request. The newest is the refused one.
  await page.shows("createLabel", "200", "400");
  await page.press("[role=grid] .body [role=row]");
  await page.shows("Refused", "In the catalogue");
  expect(await page.violations()).toEqual([]);
  await page.screenshot("requests-dark");
  await page.page.press("k", "Control");
  await page.shows("Move the clock");
  expect(await page.violations()).toEqual([]);
});
