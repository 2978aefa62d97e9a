/** The first minute of a person in the console: the person connects an app with the form of the first page, and a test event arrives. */
import { expect, test } from "bun:test";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { startReceiver } from "#harness/receiver";
import { startServer } from "#harness/server";

for (const theme of ["light", "dark"] as const)
  test(
    `in the ${theme} theme a person with keys alone connects a new app, sends a test event, and finds the form folded away`,
    async () => {
      const receiver = startReceiver();
      const server = await startServer([]);
      const person = await personAt(server, { theme, path: "/overview" });
      await person.shows("Connect your app", "demo-page-token", `${server.base_url}/v26.0`);
      const page = person.page;
      const app = page.getByRole("combobox", { name: "App", exact: true });
      await app.focus();
      // The new app is the last one in the list of apps.
      await app.press("End");
      await page.getByRole("textbox", { name: "Name" }).focus();
      await page.keyboard.type("Flower shop");
      await page.keyboard.press("Tab");
      await page.keyboard.type(receiver.url);
      await page.getByRole("checkbox", { name: "custom_labels" }).press("Space");
      await page.getByRole("checkbox", { name: "custom_labels" }).press("Enter");
      await person.shows("✓ Saved.");
      expect(await person.violations()).toEqual([]);
      await person.look(`connected-${theme}`);
      await page.getByRole("button", { name: "Send a test event" }).press("Enter");
      await person.shows("webhook-id", "✓ delivered");
      const nodes = await fetch(`${server.control_url}/v1/worlds/default/nodes/apps`, { headers: { authorization: `Bearer ${server.control_key}` } });
      const { data } = (await nodes.json()) as { data: { name: string; subscriptions: unknown }[] };
      expect(data.find(({ name }) => name === "Flower shop")?.subscriptions).toEqual([{ object: "page", fields: ["custom_labels"] }]);
      await fetch(`${server.base_url}/v26.0/2001?access_token=demo-page-token`);
      await person.open("Overview");
      await person.shows("Connect your app", "readPage");
      await page.getByText("1. Point it at these addresses").waitFor({ state: "hidden" });
      expect(person.problems).toEqual([]);
    },
    JOURNEY_MS,
  );
