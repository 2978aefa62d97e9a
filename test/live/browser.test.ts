import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { openPage } from "#harness/live/browser";

/** The number of evaluations. The page reloads continuously, so some evaluations happen between two documents. */
const LOOKS = 30;

test("a page that is loaded again meanwhile answers the question of a test", async () => {
  const html = "<script>setTimeout(() => location.reload(), 20)</script>";
  const site = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(html, { headers: { "content-type": "text/html" } }) });
  afterThisTest(() => site.stop(true));
  const address = `http://127.0.0.1:${site.port}/`;
  const page = await openPage(address);
  for (let look = 0; look < LOOKS; look++) expect(await page.evaluate<number>(address, "1 + 1")).toBe(2);
});
