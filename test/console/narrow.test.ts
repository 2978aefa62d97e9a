/** Checks the console in a narrow window, half as wide as a screen, e.g. beside an editor. */
import { expect, test } from "bun:test";
import { JOURNEY_MS, personAt } from "#harness/console/person";
import { startServer, threeTokens } from "#harness/server";

const { query, headers } = threeTokens("demo-page-token");
/** Sends more requests than half the height of the list can show. */
const REQUESTS = 15;

test(
  "in a narrow window every view can be reached, and the opened row stays visible above its detail",
  async () => {
    const server = await startServer([]);
    const labels = `${server.base_url}/v26.0/2001/custom_labels?${query}`;
    await fetch(labels, { method: "POST", headers, body: new URLSearchParams({ page_label_name: "gold" }) });
    for (let count = 0; count < REQUESTS; count++) await fetch(labels, { headers });
    const person = await personAt(server);
    await person.page.setViewportSize({ width: 800, height: 800 });
    await person.shows("● live", "listLabels");
    await person.press("Views");
    const links = await person.page.getByRole("navigation", { name: "Views" }).getByRole("link").all();
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) {
      const { x = 0, width = 0, height = 0 } = (await link.boundingBox()) ?? {};
      // Each link is one line of text, and is inside the window.
      expect({ name: await link.innerText(), isInside: x >= 0 && x + width <= 800, isOneLine: height > 0 && height <= 32 }).toMatchObject({
        ...{ isInside: true, isOneLine: true },
      });
    }
    await person.press("Views");
    await person.row("createLabel");
    await person.shows("Response");
    const [row, detail] = [person.page.locator("[role=row][aria-selected=true]"), person.page.getByRole("region", { name: "Detail" })];
    const isAbove = async (): Promise<boolean> => {
      const [own, other] = [await row.boundingBox(), await detail.boundingBox()];
      return own !== null && other !== null && own.y + own.height <= other.y;
    };
    while (!(await isAbove())) await Bun.sleep(20);
    // No console was open during this request, so its token was not recorded; but the log knows that the request was for a page.
    const token = person.page.getByRole("combobox", { name: "Token for sending it again" });
    while ((await token.locator("option:checked").innerText()) !== "page token · Demo cafe · app Demo shop") await Bun.sleep(20);
    await person.look("narrow");
  },
  JOURNEY_MS,
);
