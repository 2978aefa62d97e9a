/** The tasks of people in the console, from the first label to an expired token. Each test saves its screenshots in `test-artefacts/console`. */
import { expect, test } from "bun:test";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { startServer, threeTokens } from "#harness/server";

const { query, headers } = threeTokens("demo-page-token");

test(
  "a first label: its request comes in, its story is read, sent again it is refused, and the console says why",
  async () => {
    const server = await startServer([]);
    const person = await personAt(server);
    await person.shows("No request yet", "● live");
    await person.look("journey-1-nothing-yet");
    const body = new URLSearchParams({ page_label_name: "gold" });
    expect((await fetch(`${server.base_url}/v26.0/2001/custom_labels?${query}`, { method: "POST", headers, body })).status).toBe(200);
    await person.row("createLabel");
    await person.shows("oauth_token in the query: page token", "Asked for v26.0, served by v26.0.", "page_label_name=gold", "No webhook.");
    await person.shows(/a token of the page, or of a person with task MESSAGING on it/);
    await person.look("journey-1-story");
    await person.press("Send again");
    await person.shows("Refused", "In the catalogue", "the same request fails again");
    await person.look("journey-1-refused");
    expect(person.problems.filter((problem) => !problem.includes("400"))).toEqual([]);
  },
  JOURNEY_MS,
);

for (const theme of ["light", "dark"] as const)
  test(
    `in the ${theme} theme a batch says which of its requests was refused, and why`,
    async () => {
      const server = await startServer([]);
      const person = await personAt(server, { theme });
      await person.shows("● live");
      const batch = JSON.stringify(["v26.0/2001/custom_labels", "v26.0/2001/custom_label"].map((relative_url) => ({ relative_url })));
      expect((await fetch(`${server.base_url}/?${query}`, { method: "POST", headers, body: new URLSearchParams({ batch }) })).status).toBe(200);
      await person.row("batch");
      await person.shows("Requests in it", /1 of 2 requests inside this request was refused/, "listLabels");
      await person.shows("Page 2001 has no edge custom_label; did you mean custom_labels?");
      expect(await person.violations()).toEqual([]);
      await person.look(`journey-batch-${theme}`);
    },
    JOURNEY_MS,
  );

for (const theme of ["light", "dark"] as const)
  test(
    `in the ${theme} theme a fault is set, a request meets it, and its story names it; then nothing fails any more`,
    async () => {
      const server = await startServer([]);
      const person = await personAt(server, { theme });
      await person.open("Faults");
      await person.shows("No fault is in effect.");
      await person.choose("Operation", "listPersonas");
      await person.fill("Status, 400 to 599", "503");
      await person.press("Create");
      await person.shows("returns 503 with code 2", "once");
      await person.look(`journey-2-fault-${theme}`);
      const ask = async () => (await fetch(`${server.base_url}/v26.0/2001/personas?${query}`, { headers })).status;
      expect(await ask()).toBe(503);
      await person.open("Requests");
      await person.row("503");
      await person.shows("! Affected by fault 1: it returns 503 with code 2.");
      expect(await person.page.getByText("In the catalogue").count()).toBe(0);
      await person.look(`journey-2-found-${theme}`);
      await person.follow("Faults in effect");
      await person.shows("No fault is in effect.");
      expect(await ask()).toBe(200);
      expect(await person.violations()).toEqual([]);
    },
    JOURNEY_MS,
  );

test(
  "a token is made for an hour, used in the explorer, and ends by the clock",
  async () => {
    const server = await startServer([]);
    const person = await personAt(server, { path: "/tokens" });
    await person.press("Create a token");
    await person.choose("App", "Demo shop · 1001");
    await person.choose("Page", "Demo cafe · 2001");
    await person.choose("Valid for", "an hour");
    await person.page.getByRole("checkbox", { name: "pages_messaging" }).check();
    await person.press("Create");
    await person.page.getByRole("button", { name: "Copy the value of the token" }).waitFor();
    await person.look("journey-3-made");
    await person.follow("Use it in the explorer");
    await person.page.getByRole("searchbox").fill("listLabels");
    await person.row("listLabels");
    await person.press("Send");
    await person.shows("✓ 200", '"name": "vip"');
    await person.look("journey-3-used");
    // The person moves the clock by a day with the command palette.
    await person.page.keyboard.press("Control+k");
    await person.page.getByRole("combobox", { name: "Search or command" }).fill("move 1 day");
    await person.page.keyboard.press("Enter");
    await person.shows("The clock was moved, and everything that was due has happened");
    await person.page.locator("option:checked", { hasText: "page token · Demo cafe · app Demo shop · expired" }).waitFor({ state: "attached" });
    await person.press("Send");
    await person.shows("! 403", /the session has expired/);
    await person.look("journey-3-expired");
  },
  JOURNEY_MS,
);
