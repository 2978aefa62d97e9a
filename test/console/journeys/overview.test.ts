/** The first minute of a person in the console: what happened last and why, and what to do next. */
import { expect, test } from "bun:test";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { startReceiver } from "#harness/receiver";
import { startServer, threeTokens } from "#harness/server";

const { query, headers } = threeTokens("demo-page-token");

test(
  "a person opens the address, sends the first request, reads why another was refused, and follows an alert to a callback and ends its cause",
  async () => {
    const receiver = startReceiver();
    receiver.response = () => new Response("no database", { status: 500 });
    const server = await startServer([]);
    const labels = `${server.base_url}/v26.0/2001/custom_labels?${query}`;
    const make = (name: string) => fetch(labels, { method: "POST", headers, body: new URLSearchParams({ page_label_name: name }) });
    const person = await personAt(server, { path: "/" });
    await person.shows(
      "● live",
      "No request yet",
      /curl .*custom_labels/,
      "Connect your app",
      "demo-page-token",
      "✓ Nothing needs attention.",
      "0 alerts",
    );
    expect(new URL(person.page.url()).pathname).toBe("/overview");
    await person.look("overview-empty");

    await fetch(`${server.control_url}/v1/worlds/default/nodes/apps/1001`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${server.control_key}` },
      body: JSON.stringify({ callback: { url: receiver.url }, subscriptions: [{ object: "page", fields: ["custom_labels"] }] }),
    });
    await make("gold");
    for (let count = 0; count < 2; count++) await make("gold");
    // The page shows the requests, the errors with their reasons, the callers, and the webhooks.
    await person.shows(/3 requests in the last ten minutes; refused 67 %, failed none\./, "Demo shop", "v26.0");
    await person.shows(/page_label_name is already used by the label/);
    await person.shows(/custom_labels/, "waiting, retries later", /a webhook is sent again to/);
    await person.shows("1 alert");
    expect(await person.page.getByText("Not served").count()).toBe(0);
    for (const name of ["insights", "persona"]) await fetch(labels.replace("custom_labels", name), { headers });
    await person.shows("Your programs asked for 2 things that Plaza does not have.", "GET page/insights", "Did you mean page/personas?");
    const chart = person.page.getByRole("img", { name: /Requests a second in the last ten minutes/ });
    await chart.locator("canvas").waitFor();
    await person.look("overview");
    await person.page.emulateMedia({ colorScheme: "dark" });
    await person.look("overview-dark");

    // With the keyboard alone, the person opens the list of alerts from the header, which every view has.
    await person.page.getByRole("button", { name: "1 alert" }).press("Enter");
    const alerts = person.page.getByRole("region", { name: "Alerts" });
    await alerts.getByText(`The callback ${receiver.url} of app 1001 fails.`).waitFor();
    expect(await person.violations()).toEqual([]);
    await person.look("alerts");
    await alerts.getByRole("link", { name: "Callback" }).press("Enter");
    await alerts.waitFor({ state: "hidden" });
    await person.shows("Failing since");
    await person.press("❚❚ Pause");
    receiver.response = () => new Response(null, { status: 200 });
    await person.press("▶ Resume");
    await person.shows("✓ delivered", "0 alerts");

    await person.open("Overview");
    await person.follow("All requests");
    await person.press("Refused 4xx");
    await person.row("createLabel");
    await person.shows("It happens when");
    expect(person.problems).toEqual([]);
  },
  JOURNEY_MS,
);
