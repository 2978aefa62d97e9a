/** Checks the pages that the console shows if a view, a world, an id or a server does not exist. */
import { expect, test } from "bun:test";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { freePort } from "#harness/processes/free-port";
import { startServer, temporaryFolder } from "#harness/server";

const KEY = "a-key-of-24-characters-x";

for (const theme of ["light", "dark"] as const)
  test(
    `in the ${theme} theme a missing view, world, request or node fills its page with an answer, and a link leads back`,
    async () => {
      const server = await startServer([]);
      const person = await personAt(server, { theme, path: "/nothing" });
      await person.page.setViewportSize({ width: 390, height: 844 });
      const cases = [
        ["/nothing", "This view does not exist", "Nothing here · default · Plaza"],
        ["/overview?world=nowhere", "The world nowhere does not exist", "Overview · nowhere · Plaza"],
        ["/requests?request=ABC", "The server no longer has this request", "Requests · default · Plaza"],
        ["/graph?kind=labels&id=999", "There is no node 999 in labels", "Graph · default · Plaza"],
        ["/graph?kind=nothings", "There is no kind nothings", "Graph · default · Plaza"],
        ["/webhooks?delivery=999", "There is no such webhook", "Webhooks · default · Plaza"],
      ] as const;
      for (const [path, text, title] of cases) {
        await person.go(path);
        await person.shows(text);
        expect(await person.page.title()).toBe(title);
        expect({ path, violations: await person.violations() }).toEqual({ path, violations: [] });
        await person.look(`missing-${theme}-${text.replaceAll(" ", "-")}`);
      }
      await person.go("/overview?world=nowhere");
      await person.page.getByRole("link", { name: "default" }).press("Enter");
      await person.shows("Connect your app");
    },
    JOURNEY_MS,
  );

test(
  "a server that is gone says when it was last seen, and the view comes back by itself with what was typed",
  async () => {
    const [port, controlPort, data] = [freePort(), freePort(), `${temporaryFolder()}/data`];
    const start = () => startServer(["--data", data, "--port", String(port), "--control-port", String(controlPort)], { PLAZA_CONTROL_KEY: KEY });
    const server = await start();
    const person = await personAt(server, { path: "/faults" });
    await person.shows("● live", "Create a fault");
    await person.fill("Status, 400 to 599", "418");
    await server.stop();
    await person.shows("The server cannot be reached", /It was last seen at .*ago/);
    expect(await person.page.title()).toBe("Server gone · default · Plaza");
    expect(await person.violations()).toEqual([]);
    await person.look("server-gone");
    await start();
    await person.shows("● live", "Create a fault");
    expect(await person.page.getByLabel("Status, 400 to 599").inputValue()).toBe("418");
  },
  JOURNEY_MS,
);
