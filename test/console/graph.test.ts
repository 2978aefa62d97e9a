import { expect, test } from "bun:test";
import { openConsole } from "#harness/console/console-page";
import { startServer, threeTokens } from "#harness/server";

test("a node is created, changed, found by its id and deleted, with links to related nodes and operations", async () => {
  const server = await startServer([]);
  const page = await openConsole(server, "/graph?kind=labels&id=5001");
  await page.shows("vip", "Related", "Demo cafe", "deleteLabel");
  expect(await page.violations()).toEqual([]);
  await page.screenshot("graph");
  await page.click("Demo cafe");
  await page.shows("listLabels", "createLabel");
  await page.go("/graph?kind=labels&id=new");
  // The example of a new node is valid without changes, and the console explains the keys of this type of node, the required keys first.
  await page.shows("Create", '"page": "2001"', '"name": "Example name"', "required · the id of a node of the kind pages", "up to 80 characters");
  await page.write('{"page": "9999999", "name": "gold"}');
  await page.press("button", "Create");
  await page.shows("✕ page refers to 9999999");
  await page.write('{"page": 9007199254740993, "name": "gold"}');
  await page.press("button", "Create");
  await page.shows("the number 9007199254740993 has more digits than can be kept: write it in quotes");
  await page.write('{"page": "2001", "name": "gold"}');
  await page.press("button", "Create");
  await page.shows("✓ Created", "Related", "Demo cafe");
  const id = await page.evaluate<string>("new URLSearchParams(location.search).get('id')");
  expect(id).toMatch(/^\d{5,}$/);
  await page.press("button", "Delete");
  await page.click("Delete the node and everything below it");
  await page.shows("The node is deleted, with everything below it");
  const { status } = await fetch(`${server.control_url}/v1/worlds/default/nodes/labels/${id}`, {
    headers: { authorization: `Bearer ${server.control_key}` },
  });
  expect(status).toBe(404);
  expect(page.page.problems.filter((problem) => !/40\d|422/.test(problem))).toEqual([]);
});

test("a token is created, shown once, and revoked", async () => {
  const server = await startServer([]);
  const page = await openConsole(server, "/tokens");
  await page.shows("page", "✓ valid");
  await page.click("Create a token");
  await page.shows("attachLabel, createLabel", "Demo shop · 1001", "Demo cafe · 2001");
  expect(await page.violations()).toEqual([]);
  await page.fill("Page", "2001");
  await page.press("input[value=pages_messaging]");
  await page.press("button", "Create");
  await page.shows("Copy the value of the token");
  const shown = "document.querySelector('.detail .copy-value code').innerText";
  const value = await page.evaluate<string>(shown);
  expect(await page.evaluate<string>("document.activeElement.className")).toBe("copy-value");
  // The tab keeps the value of the new token when the person looks at another token and when the page is reloaded.
  const made = await page.evaluate<string>("location.pathname + location.search");
  await page.go("/tokens");
  await page.shows("Create a token");
  await page.go(made);
  await page.shows(value);
  const { query, headers } = threeTokens(value);
  const ask = async () => (await fetch(`${server.base_url}/v26.0/2001/custom_labels?${query}`, { headers })).status;
  expect(await ask()).toBe(200);
  await page.press("[role=grid] .body [role=row]");
  await page.click("Revoke: ");
  await page.click("Revoke the token and its copies");
  await page.shows("✕ revoked");
  expect(await ask()).toBe(403);
  await page.screenshot("tokens");
});
