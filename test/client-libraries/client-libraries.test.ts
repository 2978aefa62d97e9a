/**
 * Runs the official business libraries of a comparable platform, for Python and for Node, on Plaza in the response profile `clients`, and checks the
 * result of each ordinary use. `docs/compatibility.md` lists the libraries and the uses.
 */
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { endAll, newFolder, startPlaza } from "../cli/plaza-process.ts";
import { installNodeLibrary, installPythonLibrary, run } from "./libraries.ts";

afterEach(endAll);

const catalogScopes = ["catalog_management", "pages_manage_metadata"];
const world = {
  apps: [{ id: "1001", name: "Shop", secret: "shop-secret" }],
  users: [{ id: "3001", name: "Ada" }],
  pages: [{ id: "2001", name: "Bookshop", roles: [{ user: "3001", tasks: ["MANAGE", "MESSAGING", "MODERATE"] }] }],
  tokens: [
    { token: "page-token", type: "page", app: "1001", page: "2001", user: "3001", scopes: ["pages_messaging", "pages_manage_metadata"] },
    { token: "user-token", type: "user", app: "1001", user: "3001", scopes: catalogScopes },
    { token: "app-token", type: "app", app: "1001" },
  ],
};

const HEADER = "id,title,link,image_link";
const row = (id: string) => `${id},Book ${id},https://example.com/${id},https://example.com/${id}.jpg`;
const BAD_FILE = [HEADER, row("a"), "b,,https://example.com/b,https://example.com/b.jpg"].join("\n");
const FILE = [HEADER, row("c")].join("\n");

/** Serves files of feeds, and responds to the verification of a callback. */
function startServer(): string {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname, searchParams } = new URL(url);
      if (pathname === "/books.csv") return new Response(FILE);
      return new Response(pathname === "/bad.csv" ? BAD_FILE : searchParams.get("hub.challenge"));
    },
  });
  afterThisTest(() => server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

/** Starts the server, and returns the input of a library's driver. */
async function open(): Promise<string> {
  const folder = newFolder();
  writeFileSync(join(folder, "world.yaml"), JSON.stringify(world));
  writeFileSync(join(folder, "books.csv"), BAD_FILE);
  const { ready } = await startPlaza(["--profile", "clients", "--data", ":memory:", "--world", join(folder, "world.yaml")], { cwd: folder });
  const address = startServer();
  return JSON.stringify({
    base_url: ready.base_url,
    ads_base_url: ready.ads_base_url,
    callback_url: `${address}/hook`,
    file: join(folder, "books.csv"),
    file_url: `${address}/books.csv`,
    bad_file_url: `${address}/bad.csv`,
  });
}

/** A machine may reach its package registries through a proxy, which would not find the server under test. */
const withoutProxy = { NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" };

const ofBoth = {
  "read a page with fields that Plaza does not serve": { id: "2001", name: "Bookshop" },
  "read the user of a token": { id: "3001", name: "Ada" },
  "create labels": ["first", "second", "third"],
  "page through labels": ["third", "second", "first"],
  "delete a label": ["third", "second"],
  "create a persona and read it": "Bo",
  "list personas": ["Bo"],
  "create a catalog and read it": ["Books", "commerce"],
  "create a feed with a schedule, rename it and read it": ["Every book", "DAILY", 4],
  "list the feeds of a catalog, one of which was deleted": ["Every book"],
  "read the errors of an upload": [["fatal", "is missing"]],
  "upload a file by its address, which adds to the items": [1, 1, 0],
  "list the items of a feed": [2, ["c", "a"]],
  "subscribe an app": [["custom_labels", "feed"]],
  "subscribe the app to a page": [["custom_labels", "feed"]],
  "unsubscribe from both": [0, 0],
  "send a batch of which one request refers to another": true,
  "read an error": [400, 100, 33, "GraphMethodException"],
  "delete a catalog": 33,
};

/** The rows of the table of uses in docs/compatibility.md: the use, and whether it was tested with each library. */
const documented = (): { use: string; python: boolean; node: boolean }[] =>
  [...readFileSync(join(import.meta.dir, "../../docs/compatibility.md"), "utf8").matchAll(/^\| ([^|]+) \| (yes|no)[^|]* \| (yes|no)[^|]* \|$/gm)].map(
    ([, use = "", python, node]) => ({ use, python: python === "yes", node: node === "yes" }),
  );

function expectDocumented(library: "python" | "node", uses: object): void {
  const rows = documented().filter((row) => row[library]);
  // order: the page has an order for its readers.
  expect(rows.map(({ use }) => use).sort()).toEqual(Object.keys(uses).sort());
}

test("the library for Python does what docs/compatibility.md says", async () => {
  const folder = await installPythonLibrary();
  const printed = await run(["python3", join(import.meta.dir, "python/drive.py"), await open()], folder, {
    ...{ ...withoutProxy, PYTHONPATH: join(folder, "packages"), PYTHONWARNINGS: "ignore", PYTHONDONTWRITEBYTECODE: "1" },
  });
  const uses = JSON.parse(printed);
  expect(uses).toEqual({
    ...ofBoth,
    "upload a file and wait for its end": [2, 1, 1],
    "list the uploads of a feed": ["Server Fetch", "Manual Upload"],
    "send a batch of which one request fails": ["Every book", 100, true],
  });
  expectDocumented("python", uses);
});

test("the library for Node does what docs/compatibility.md says", async () => {
  const folder = await installNodeLibrary();
  const driver = join(import.meta.dir, "node/drive.cjs");
  const uses = JSON.parse(await run(["node", driver, await open(), join(folder, "node_modules")], folder, withoutProxy));
  expect(uses).toEqual({
    ...ofBoth,
    "upload a file by its address and wait for its end": [2, 1, 1],
    "list the uploads of a feed": ["Server Fetch", "Server Fetch"],
    "check the older signature of a webhook": true,
    "send a batch of which one request fails": ["Every book", 400, true],
  });
  expectDocumented("node", uses);
});
