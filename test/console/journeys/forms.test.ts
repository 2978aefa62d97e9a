/** Checks that a person can use the forms for a token and for a new node with the keyboard alone, and that the forms offer only valid values. */
import { expect, test } from "bun:test";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { startServer } from "#harness/server";

for (const theme of ["light", "dark"] as const)
  test(
    `in the ${theme} theme a person with keys alone makes a token, and a node from its example`,
    async () => {
      const server = await startServer([]);
      const person = await personAt(server, { theme, path: "/tokens" });
      const { page } = person;
      await page.getByRole("button", { name: "Create a token" }).press("Enter");
      // The form lists the apps and pages as soon as the server has responded.
      for (const name of ["app", "principal"]) await page.locator(`select[name=${name}] option`).first().waitFor({ state: "attached" });
      const scope = page.getByRole("checkbox", { name: "pages_messaging" });
      await scope.press("Space");
      expect(await scope.isChecked()).toBe(true);
      await page.getByRole("button", { name: "Create", exact: true }).press("Enter");
      await page.getByRole("button", { name: "Copy the value of the token" }).waitFor();
      expect(await person.violations()).toEqual([]);
      await person.look(`form-token-${theme}`);
      await person.go("/graph?kind=labels");
      await page.getByRole("button", { name: "New", exact: true }).press("Enter");
      const editor = page.getByRole("textbox", { name: "The labels, as in a world file" });
      await editor.filter({ hasText: "2001" }).waitFor();
      await person.shows("required ·");
      expect(await person.violations()).toEqual([]);
      await person.look(`form-node-${theme}`);
      await page.getByRole("button", { name: "Create", exact: true }).press("Enter");
      await page.getByRole("button", { name: "Save", exact: true }).waitFor();
      const labels = await fetch(`${server.control_url}/v1/worlds/default/nodes/labels`, {
        headers: { authorization: `Bearer ${server.control_key}` },
      });
      expect(((await labels.json()) as { data: unknown[] }).data).toHaveLength(2);
      expect(person.problems).toEqual([]);
    },
    JOURNEY_MS,
  );
