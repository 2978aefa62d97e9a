import { expect, test } from "bun:test";
import { openConsole } from "#harness/console/console-page";
import { type Server, startServer, threeTokens } from "#harness/server";

/** Whether a new request is recorded with its story. Requests are recorded with their story while a person watches the console. */
async function isStoried(server: Server): Promise<boolean> {
  const { query, headers } = threeTokens("demo-page-token");
  const trace = (await fetch(`${server.base_url}/v26.0/2001/custom_labels?${query}`, { headers })).headers.get("x-pf-trace-id");
  const authorization = `Bearer ${server.control_key}`;
  const entry = await fetch(`${server.control_url}/v1/worlds/default/requests/${trace}`, { headers: { authorization } });
  expect(entry.status).toBe(200);
  return "story" in ((await entry.json()) as object);
}

async function untilStoried(server: Server, isSo: boolean): Promise<void> {
  while ((await isStoried(server)) !== isSo) await Bun.sleep(20);
}

test("nothing is recorded or streamed for the console while nobody looks: before it is opened, while its tab is hidden, after it is closed", async () => {
  const server = await startServer([]);
  expect(await isStoried(server)).toBe(false);
  const page = await openConsole(server, "/webhooks");
  await page.shows("● live");
  await untilStoried(server, true);
  const { windowId } = await page.page.send("Browser.getWindowForTarget");
  const setWindow = (windowState: string) => page.page.send("Browser.setWindowBounds", { windowId, bounds: { windowState } });
  await setWindow("minimized");
  await untilStoried(server, false);
  await setWindow("normal");
  await untilStoried(server, true);
  await page.page.send("Page.navigate", { url: "about:blank" });
  await untilStoried(server, false);
});
