/**
 * A browser opens six connections to a host for all its windows together. Checks that the console leaves two of the browser's six connections to the
 * server free for the actions of a person.
 */
import { expect, test } from "bun:test";
import { JOURNEY_MS, type Person, personAt } from "#harness/console/person";
import { freePort } from "#harness/processes/free-port";
import { type Server, startServer, temporaryFolder } from "#harness/server";

/** The number of the other windows of the console, each of which holds two event streams open. */
const OTHERS = 3;
const LIVE = "● live";
const WAITS = "○ paused: other windows are live";

/** Opens windows of the console until the server's connections for streams are all used, so that the person's window waits. */
async function openOthers(person: Person, { control_url, control_key }: Server): Promise<(typeof person.page)[]> {
  const others: (typeof person.page)[] = [];
  for (let count = 0; count < OTHERS; count++) {
    const page = await person.page.context().newPage();
    await page.goto(`${control_url}/webhooks#key=${control_key}`);
    await page.getByText(LIVE).waitFor();
    others.push(page);
  }
  await person.shows(WAITS);
  return others;
}

test(
  "with four windows all requests arrive, the last used windows are live, and the others when there is room",
  async () => {
    const server = await startServer([]);
    const person = await personAt(server, { path: "/webhooks" });
    await person.shows(LIVE);
    const others = await openOthers(person, server);
    await person.open("Tokens");
    await person.shows(/pages_messaging/);
    // Headless Chromium reports to each window that the window has the focus, but sends no window an event when it gets the focus.
    await person.page.evaluate("dispatchEvent(new Event('focus'))");
    await person.shows(LIVE);
    await person.open("Webhooks");
    const [first, ...newer] = others;
    await first?.getByText(WAITS).waitFor();
    for (const page of newer) await page.close();
    await first?.getByText(LIVE).waitFor();
    expect(person.problems).toEqual([]);
  },
  JOURNEY_MS,
);

test(
  "a window that waits for other windows says that the server is gone, and comes back with them",
  async () => {
    const [port, data] = [freePort(), `${temporaryFolder()}/data`];
    const start = () => startServer(["--data", data, "--control-port", String(port)], { PLAZA_CONTROL_KEY: "a-key-of-24-characters-x" });
    const server = await start();
    const person = await personAt(server, { path: "/webhooks" });
    await person.shows(LIVE);
    const windows = [person.page, ...(await openOthers(person, server))];
    const titles =
      "globalThis.titles = []; new MutationObserver(() => titles.push(document.title)).observe(document.querySelector('title'), { childList: true })";
    for (const page of windows) await page.evaluate(titles);
    await server.stop();
    const gone = windows.map(async (page) => {
      await page.getByText(/It was last seen at .*, (now|\d+ s ago)\./).waitFor();
      for (let count = 0; count < 2; count++) await page.waitForEvent("requestfailed", (request) => request.url().endsWith("/healthz"));
    });
    await Promise.all(gone);
    await start();
    for (const page of windows) await page.getByText(/● live|○ paused/).waitFor();
    // While the server is stopped, no window shows its view.
    for (const page of windows)
      expect(await page.evaluate<string[]>("titles")).toEqual(["Server gone · default · Plaza", "Webhooks · default · Plaza"]);
  },
  JOURNEY_MS,
);
