/** A browser opens six connections to a host for all its windows together. Checks that the console leaves two of them for people's actions. */
import { expect, test } from "bun:test";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { startServer } from "#harness/server";

/** The number of other windows, each of which has two streams. */
const OTHERS = 3;
const LIVE = "● live";
const WAITS = "○ paused: other windows are live";

test(
  "with four windows all requests arrive, the last used windows are live, and the others when there is room",
  async () => {
    const server = await startServer([]);
    const person = await personAt(server, { path: "/webhooks" });
    await person.shows(LIVE);
    const others: (typeof person.page)[] = [];
    for (let count = 0; count < OTHERS; count++) {
      const page = await person.page.context().newPage();
      await page.goto(`${server.control_url}/webhooks#key=${server.control_key}`);
      await page.getByText(LIVE).waitFor();
      others.push(page);
    }
    await person.shows(WAITS);
    await person.open("Tokens");
    await person.shows(/pages_messaging/);
    // Chromium without a screen tells each window that it has the focus, but tells no window that it gets the focus.
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
