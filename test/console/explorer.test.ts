import { expect, test } from "bun:test";
import { openConsole } from "#harness/console/console-page";
import { startServer } from "#harness/server";

test("an operation is a form: choose a token, send the request, read the response, and copy it as code", async () => {
  const server = await startServer([]);
  const page = await openConsole(server, "/explorer");
  await page.shows("inspectToken", "operations");
  await page.fill("Part of an operation", "createLabel");
  await page.shows("1 of ");
  await page.press("[role=grid] .body [role=row]");
  await page.shows("page_label_name", "Code", "curl -X POST");
  await page.fill("page_label_name", "gold");
  await page.shows('"page_label_name":"gold"', "Bearer TOKEN");
  expect(await page.violations()).toEqual([]);
  await page.click("TypeScript");
  await page.shows("await fetch(");
  await page.click("Python");
  await page.shows("import requests");
  await page.press("button", "Send");
  await page.shows("✓ 200", '"name": "gold"');
  await page.screenshot("explorer");
  // The console sent a copy of the page's token as both query parameters and as the header of the request.
  await page.click("Request details");
  const story = await page.shows("oauth_token in the query: page token", "Authorization header: page token");
  expect(story).toContain("createLabel");
  await page.click("Open in the explorer");
  await page.shows("Code", "page_label_name");
  expect(page.page.problems).toEqual([]);
});
