/** How the report of a file names its rows. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openFeeds } from "#harness/feeds";

const item = (more: object) => JSON.stringify({ title: "t", link: "https://a.example/", image_link: "https://a.example/i.png", ...more });

onEachDatabase("the report of a feed file", (database) => {
  test("D-141: names a bad row by the beginning of its id, as far as it can be stored", async () => {
    const { upload } = await openFeeds(database);
    const ids = ["x".repeat(150), `${"x".repeat(99)}😀`, "a\u0000b", "  ", " short "];
    const report = await upload([...ids.map((id) => item({ id, title: "" })), item({ id: "fine" })].join("\n"));
    expect(report).toMatchObject({ status: "done", rows: 6, items: 1, bad_rows: 5 });
    const named = ["x".repeat(100), `${"x".repeat(99)}\uFFFD`, "a\uFFFDb", undefined, "short"];
    expect(report.errors.map(({ line, retailer_id }: { line: number; retailer_id?: string }) => [line, retailer_id])).toEqual(
      named.map((id, at) => [at + 1, id]),
    );
    const reasons = report.errors.map(({ field, reason }: { field: string; reason: string }) => `${field} ${reason}`);
    expect(reasons).toEqual([
      "retailer_id is longer than 100 characters",
      "name is missing",
      "name is missing",
      "retailer_id is missing",
      "name is missing",
    ]);
  });

  test("D-141: counts the items of XML, of which several may stand on a line", async () => {
    const { upload, itemsOf } = await openFeeds(database);
    const element = (id: string, title: string) =>
      `<item><guid>${id}</guid><title>${title}</title><link>https://a.example/</link><image_link>https://a.example/i</image_link></item>`;
    const report = await upload(`<rss><channel>${element("a", "one")}${element("b", "two")}${element("a", "three")}</channel></rss>`);
    expect(report).toMatchObject({ status: "done", format: "xml", rows: 3, items: 2, items_added: 2, duplicates: 1 });
    expect(report.errors).toEqual([
      { severity: "warning", line: 1, retailer_id: "a", field: "retailer_id", reason: "replaces item 1 of the file with the same retailer_id" },
    ]);
    expect((await itemsOf("name")).map(({ name }) => name)).toEqual(["two", "three"]);
  });

  test("D-141: has a warning for each value that is left out, the first hundred by line beside the bad rows", async () => {
    const { upload } = await openFeeds(database);
    const rows = Array.from({ length: 120 }, (_, at) => item({ id: `a${at}`, price: "much", ...(at % 2 === 0 ? {} : { title: "" }) }));
    const report = await upload(rows.join("\n"));
    expect(report).toMatchObject({ rows: 120, items: 60, bad_rows: 60 });
    const kind = ({ severity, line }: { severity?: string; line: number }) => `${line} ${severity ?? "bad"}`;
    expect(report.errors.map(kind)).toEqual(Array.from({ length: 100 }, (_, at) => `${at + 1} ${at % 2 === 0 ? "warning" : "bad"}`));
    expect(report.errors[0]).toEqual({
      ...{ severity: "warning", line: 1, retailer_id: "a0", field: "price" },
      reason: "is not a price such as 12.50; the item is kept without it",
    });
  });
});
