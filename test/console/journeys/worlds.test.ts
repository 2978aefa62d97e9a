/** Checks time, worlds, events and feeds in the console, as people use them. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { startServer, temporaryFolder, worldFile } from "#harness/server";

const DAY = 86_400;
const YEAR = 365 * DAY;
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

test(
  "a version that ends next month is found before, with the requests that it would refuse",
  async () => {
    const now = Math.floor(Date.now() / 1000);
    const world = worldFile({
      versions: {
        marketing: [
          { version: "v24.0", released: iso(now - 3 * YEAR), until: iso(now + 30 * DAY) },
          { version: "v25.0", released: iso(now - YEAR / 2) },
        ],
      },
      apps: [
        { id: "1001", name: "Book shop", created_time: iso(now - 2 * YEAR), marketing_first_used_time: iso(now - 2 * YEAR), auto_upgrade: false },
      ],
      pages: [{ id: "2001", roles: [] }],
      catalogs: [{ id: "8001", page: "2001", name: "Books" }],
      tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", scopes: ["catalog_management"] }],
    });
    const server = await startServer(["--world", world]);
    await fetch(`${server.base_url}/v24.0/8001?access_token=page-token`, { headers: { authorization: "Bearer page-token" } });
    const person = await personAt(server);
    await person.open("Versions");
    await person.page.locator("input[type=date]").fill(iso(now + 40 * DAY).slice(0, 10));
    await person.shows("readCatalog", /automatic upgrade off/);
    await person.shows(`! ends ${iso(now + 30 * DAY).slice(0, 10)}`);
    await person.look("journey-6-ends");
    // When the clock has reached the end of the version, the server refuses the same request.
    await person.open("Time");
    await person.press("+ 30 days");
    await person.shows("The clock was moved, and everything that was due has happened");
    await person.press("+ 1 day");
    const late = await fetch(`${server.base_url}/v24.0/8001?access_token=page-token`, { headers: { authorization: "Bearer page-token" } });
    expect(late.status).toBe(400);
    await person.open("Requests");
    await person.row("400");
    await person.shows("Asked for v24.0, no version served the request");
    await person.look("journey-6-refused");
  },
  JOURNEY_MS,
);

test(
  "a world is kept, broken and restored",
  async () => {
    const server = await startServer([]);
    const person = await personAt(server, { path: "/worlds" });
    await person.fill("Name of a snapshot", "before");
    await person.press("Create a snapshot");
    await person.shows("✓ Snapshot created");
    await person.look("journey-7-kept");
    await person.open("Graph");
    await person.choose("Kind", "labels");
    await person.row("vip");
    await person.press("Delete: Delete the node and everything below it");
    await person.press("Delete the node and everything below it");
    await person.shows("The node is deleted, with everything below it", "No labels yet");
    await person.look("journey-7-broken");
    await person.open("Worlds");
    await person.press("Restore: Restore default to before");
    await person.look("journey-7-sure");
    await person.press("Restore default to before");
    await person.shows("World default restored");
    await person.open("Graph");
    await person.choose("Kind", "labels");
    await person.row("vip");
    await person.shows("Related");
    await person.look("journey-7-restored");
    expect(person.problems).toEqual([]);
  },
  JOURNEY_MS,
);

test(
  "events of an app arrive with their verdicts and sums, and a name is deactivated and activated again",
  async () => {
    const server = await startServer([]);
    const person = await personAt(server, { theme: "dark", path: "/events" });
    await person.shows("No event yet");
    const report = (events: readonly object[]) =>
      fetch(`${server.base_url}/v26.0/1001/activities`, {
        method: "POST",
        headers: { authorization: "Bearer demo-app-token", "x-forwarded-for": "203.0.113.7" },
        body: new URLSearchParams({
          ...{ event: "CUSTOM_APP_EVENTS", advertiser_id: "1b2c3d4e-0000-4000-8000-000000000001", advertiser_tracking_enabled: "1" },
          application_tracking_enabled: "1",
          custom_events: JSON.stringify(events),
        }),
      });
    const booked = (id: string, amount: number) => ({ _eventName: "table_booked", event_id: id, _valueToSum: amount, pf_currency: "EUR" });
    expect((await report([booked("1", 0.1), booked("2", 0.2)])).status).toBe(200);
    expect((await report([booked("2", 0.2)])).status).toBe(200);
    await person.shows("✓ accepted", "= duplicate", "table_booked", "0.3 EUR", "Events a day");
    await person.page.locator(".chart canvas").waitFor();
    const sure = "Deactivate table_booked; its events are refused from now on";
    await person.press(`Deactivate: ${sure}`);
    await person.press(sure);
    await person.shows("deactivated");
    expect((await report([booked("3", 0.4)])).status).toBe(400);
    await person.press("Activate table_booked");
    await person.page.getByRole("button", { name: `Deactivate: ${sure}`, exact: true }).waitFor();
    expect((await report([booked("3", 0.4)])).status).toBe(200);
    await person.shows("0.7 EUR");
    await person.look("journey-8-events");
    expect(await person.violations()).toEqual([]);
  },
  JOURNEY_MS,
);

test(
  "a feed is filled with a file: what came in, which row is no item and why, and the items in the graph",
  async () => {
    const file = join(temporaryFolder(), "books.csv");
    await Bun.write(
      file,
      [
        "id,title,description,availability,condition,price,link,image_link,brand",
        "b1,A short book,Short,in stock,new,9.90 EUR,https://example.com/b1,https://example.com/b1.jpg,Demo",
        "b3,A new book,New,in stock,new,12.00 EUR,https://example.com/b3,https://example.com/b3.jpg,Demo",
        ",A book without an id,None,in stock,new,9.00 EUR,https://example.com/b4,https://example.com/b4.jpg,Demo",
        "",
      ].join("\n"),
    );
    const server = await startServer([]);
    const person = await personAt(server, { path: "/feeds" });
    await person.shows("2 items in its catalog", "No upload yet");
    await person.press("Upload a file");
    await person.page.getByLabel("File", { exact: true }).setInputFiles(file);
    await person.press("Upload");
    await person.shows("✓ done", "2: 1 new, 1 replaced, 1 removed");
    expect(await person.page.locator(".plain-table tbody").innerText()).toMatch(/^4\s.*✕/s);
    await person.look("journey-9-upload");
    expect(await person.violations()).toEqual([]);
    await person.follow("Open feed and items");
    await person.shows('"A new book"');
    await person.look("journey-9-items");
    expect(person.problems).toEqual([]);
  },
  JOURNEY_MS,
);
