/** Sends feed files through the control API of a test, and reads the feed afterwards. */
import { expect } from "bun:test";
import { KEY, openControl } from "./control.ts";
import type { DatabaseKind } from "./databases.ts";
import { cafe } from "./worlds.ts";

export const feedWorld = {
  ...cafe,
  catalogs: [{ id: "8001", page: "2001", name: "Books" }],
  product_feeds: [
    { id: "8101", catalog: "8001", name: "books" },
    { id: "8102", catalog: "8001", name: "others" },
  ],
  tokens: [...cafe.tokens, { token: "reader", type: "user", app: "1001", user: "3001", scopes: ["catalog_management"] }],
};

export const HEADER = "retailer_id,name,url,image_url,brand";
export const row = (id: string, brand = "") => `${id},Book ${id},https://a.example/${id},https://a.example/${id}.png,${brand}`;
export const csv = (...rows: string[]) => [HEADER, ...rows].join("\n");

export async function openFeeds(database: DatabaseKind, settings: Readonly<Record<string, number>> = {}) {
  const { plaza, app, request } = await openControl({ database, world: feedWorld, settings });
  const send = async (body: string | Uint8Array<ArrayBuffer> | FormData, headers: Record<string, string> = {}, path = "feeds/8101/uploads") => {
    const request = { method: "POST", body, headers: { authorization: `Bearer ${KEY}`, ...headers } };
    const response = await app.request(`/v1/worlds/default/${path}`, request);
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
    return { status: response.status, body: (await response.json()) as any };
  };
  /** Sends a feed file and returns the report of the upload, once the server has read the file. */
  const upload = async (body: string | Uint8Array<ArrayBuffer> | FormData, headers?: Record<string, string>, path?: string) => {
    const sent = await send(body, headers, path);
    expect(sent.status).toBe(201);
    await plaza.world.work.runDue();
    return (await request("GET", `feeds/${sent.body.feed}/uploads/${sent.body.n}`)).body;
  };
  const itemsOf = async (fields = "retailer_id", feed = "8101") => {
    const { body } = await plaza.get(`/v25.0/${feed}/articles_and_publications`, {
      bearer: "reader",
      query: { fields, limit: "100", summary: "true" },
    });
    expect(body.summary.total_count).toBeGreaterThanOrEqual(body.data.length);
    return body.data as Record<string, string>[];
  };
  const idsOf = async () => (await itemsOf()).map(({ retailer_id }) => retailer_id as string).sort();
  return { plaza, app, request, send, upload, itemsOf, idsOf };
}
