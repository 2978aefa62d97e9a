/** D-32: checks that a caller who pages to the end while others add and delete labels sees each label that stays exactly once. */
import { expect, test } from "bun:test";
import { openPlaza, requestOfLink, type TestPlaza } from "#harness/plaza";
import { tries } from "#harness/proof";
import { insertEntries } from "#harness/sections";
import { cafe } from "#harness/worlds";

const ROWS = tries(20_000, 1_000_000);
const token = "page";

async function fill(plaza: TestPlaza, count: number): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let from = 0; from < count; from += 1_000) {
    const labels = Array.from({ length: Math.min(1_000, count - from) }, (_, i) => ({
      id: plaza.world.ids.mint(),
      page: "2001",
      name: `label ${from + i}`,
    }));
    await insertEntries(plaza, "labels", labels);
    for (const { id } of labels) ids.add(id);
  }
  return ids;
}

test(`paging through ${ROWS} labels while others are added and deleted`, async () => {
  const plaza = await openPlaza({ world: cafe, settings: { labels_per_page_max: ROWS * 3 } });
  const stayed = await fill(plaza, ROWS);
  const doomed = [...stayed].filter((_, i) => i % 97 === 13);
  for (const id of doomed) stayed.delete(id);
  stayed.add("5001");

  const seen = new Map<string, number>();
  const pageMs: number[] = [];
  let link: { path: string; query: Record<string, string> } | undefined = { path: "/v26.0/2001/custom_labels", query: { limit: "100" } };
  for (let turn = 0; link !== undefined; turn++) {
    const startMs = performance.now();
    const { status, body } = await plaza.get(link.path, { token, query: link.query });
    pageMs.push(performance.now() - startMs);
    expect(status).toBe(200);
    for (const { id } of body.data) seen.set(id, (seen.get(id) ?? 0) + 1);
    link = body.paging.next === undefined ? undefined : requestOfLink(body.paging.next);
    // Others add labels at the front, and delete labels before, at and behind the cursor.
    await plaza.post("/v26.0/2001/custom_labels", { token, body: { page_label_name: `comes ${turn}` } });
    const goes = doomed.pop();
    if (goes !== undefined) expect((await plaza.delete(`/v26.0/${goes}`, { token })).status).toBe(200);
  }
  expect([...seen].filter(([, times]) => times > 1)).toEqual([]);
  expect([...stayed].filter((id) => !seen.has(id))).toEqual([]);
  const median = (list: number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] as number;
  const part = Math.floor(pageMs.length / 10);
  const ratio = median(pageMs.slice(-part)) / median(pageMs.slice(0, part));
  console.log(`${pageMs.length} pages; the last tenth costs ${ratio.toFixed(2)} of the first`);
  // If pages were found by an offset, the last pages of a million labels would cost a hundred times as much as the first.
  expect(ratio).toBeLessThan(5);
}, 1_800_000);
