import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

const ADA = { user: "7203685477580001", psid: "7203685477580002", phone: "+4915112345678", text: "ADAS-TEXT" };
const BOB = { user: "7203685477589001", psid: "7203685477589002", phone: "+4915187654321", text: "BOBS-TEXT" };

const world = {
  apps: [{ id: "1001", secret: "s3cret", subscriptions: [{ object: "chatapp_business_account", fields: ["messages"] }] }],
  users: [ADA, BOB].map(({ user, text }) => ({ id: user, name: text })),
  pages: [{ id: "2001", people: [ADA, BOB].map(({ psid, text }) => ({ psid, name: text })) }],
  labels: Array.from({ length: 200 }, (_, index) => ({
    id: String(700_000 + index),
    page: "2001",
    name: `label ${index}`,
    users: [ADA.psid, BOB.psid],
  })),
  live_videos: [{ id: "5301", page: "2001" }],
  live_comments: Array.from({ length: 2_000 }, (_, index) => {
    const { user, text } = index % 5 === 0 ? ADA : BOB;
    return { id: String(900_000 + index), live_video: "5301", from: user, message: `${text} ${"x".repeat(index % 300)}` };
  }),
  chatapp_accounts: [{ id: "4001", subscribed_apps: [{ app: "1001" }] }],
  phone_numbers: [{ id: "4101", account: "4001" }],
};

/** The bytes of an integer of seven or eight bytes in a record of SQLite. */
const asInteger = (id: string): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(id));
  return bytes;
};

/** The names of those of the person's ids and texts whose bytes are still in the files of the folder. */
function foundIn(folder: string, { user, psid, phone, text }: typeof ADA): string[] {
  // The server's socket in this folder is left out, because a socket is not a file that can be read.
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const files = names.map(({ name }) => readFileSync(join(folder, name)));
  const needles = { user, psid, phone, text, "user as a number": asInteger(user), "psid as a number": asInteger(psid) };
  return Object.entries(needles).flatMap(([name, needle]) => (files.some((file) => file.includes(needle)) ? [name] : []));
}

test("D-172: erased data of a person are not in the files either, while the server runs", async () => {
  const [data, file] = [newFolder(), join(newFolder(), "world.json")];
  writeFileSync(file, JSON.stringify(world));
  const plaza = await startPlaza(["--data", data, "--world", file]);
  for (let message = 0; message < 100; message++) {
    const { phone, text } = message % 3 === 0 ? ADA : BOB;
    const value = { messages: [{ from: phone, text: { body: `${text} ${message}` } }] };
    expect((await plaza.control("POST", "in-app/chatapp", { account: "4001", field: "messages", value })).status).toBe(200);
  }
  expect(foundIn(data, ADA)).toEqual(["phone", "text", "user as a number", "psid as a number"]);
  for (const id of [ADA.user, ADA.psid, ADA.phone]) {
    const begun = (await plaza.control("DELETE", `people/${encodeURIComponent(id)}`)).body as { id: string };
    while ((await plaza.control("GET", `erasures/${begun.id}`)).body.status === "running") await Bun.sleep(20);
  }
  expect(foundIn(data, ADA)).toEqual([]);
  expect(foundIn(data, BOB)).toEqual(["phone", "text", "user as a number", "psid as a number"]);
  // After the erasure has rewritten the database file, the server continues to work with the new file.
  expect((await plaza.control("GET", "nodes/live_comments?limit=1000")).body.data).toHaveLength(1_000);
  expect((await plaza.control("POST", "nodes/users", { name: "New" })).status).toBe(201);
  expect((await plaza.end()).code).toBe(0);
});
