/**
 * Runs the official business libraries of a comparable platform, for Python and for Node, on Plaza in the response profile `clients`, and checks the
 * result of each ordinary use. `docs/compatibility.md` lists the libraries and the uses.
 */
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { endAll, newFolder, PROGRAM, startPlaza } from "../cli/plaza-process.ts";
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

/** Writes the world and a file of a feed, and returns the world's file and the input of a library's driver. */
function prepare(addresses: object): { worldFile: string; input: string } {
  const folder = newFolder();
  const worldFile = join(folder, "world.yaml");
  writeFileSync(worldFile, JSON.stringify(world));
  writeFileSync(join(folder, "books.csv"), BAD_FILE);
  const address = startServer();
  const files = { file: join(folder, "books.csv"), file_url: `${address}/books.csv`, bad_file_url: `${address}/bad.csv` };
  return { worldFile, input: JSON.stringify({ ...addresses, ...files, callback_url: `${address}/hook` }) };
}

/** Starts the server, and returns the input of a library's driver. */
async function open(): Promise<string> {
  const { ready } = await startPlaza(["--profile", "clients", "--data", ":memory:", "--world", prepare({}).worldFile]);
  return prepare({ base_url: ready.base_url, ads_base_url: ready.ads_base_url }).input;
}

/** Runs a library's driver with `plaza exec --as`, so that the library calls the host that it has built in. */
async function runUnchanged(address: string, driver: (input: string) => string[], folder: string, env: Record<string, string> = {}): Promise<string> {
  const { worldFile, input } = prepare({ ads_base_url: "https://ads.example.com" });
  const hosts = ["--as", new URL(address).hostname, "--as", "ads.example.com=ads", "--only"];
  return run([PROGRAM, "exec", ...hosts, "--world", worldFile, "--", ...driver(input)], folder, env);
}

/** A machine may use a proxy to reach its package registries, and this proxy would not find the server under test. */
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
  "upload a file by its address that adds items to the feed": [1, 1, 0],
  "list the items of a feed": [2, ["c", "a"]],
  "subscribe an app": [["custom_labels", "feed"]],
  "subscribe the app to a page": [["custom_labels", "feed"]],
  "unsubscribe from both": [0, 0],
  "send a batch of which one request refers to another": true,
  "read an error": [400, 100, 33, "GraphMethodException"],
  "delete a catalog": 33,
};

/** The rows of the table in docs/compatibility.md: each row has a use of a library, and says for each library whether the use was tested. */
const documented = (): { use: string; python: boolean; node: boolean }[] =>
  [...readFileSync(join(import.meta.dir, "../../docs/compatibility.md"), "utf8").matchAll(/^\| ([^|]+) \| (yes|no)[^|]* \| (yes|no)[^|]* \|$/gm)].map(
    ([, use = "", python, node]) => ({ use, python: python === "yes", node: node === "yes" }),
  );

function expectDocumented(library: "python" | "node", uses: object): void {
  const rows = documented().filter((row) => row[library]);
  // order: the page has an order for its readers.
  expect(rows.map(({ use }) => use).sort()).toEqual(Object.keys(uses).sort());
}

const ofPython = {
  ...ofBoth,
  "upload a file and wait for its end": [2, 1, 1],
  "list the uploads of a feed": ["Server Fetch", "Manual Upload"],
  "send a batch of which one request fails": ["Every book", 100, true],
};
const ofNode = {
  ...ofBoth,
  "upload a file by its address and wait for its end": [2, 1, 1],
  "list the uploads of a feed": ["Server Fetch", "Server Fetch"],
  "check the older signature of a webhook": true,
  "send a batch of which one request fails": ["Every book", 400, true],
};

const pythonIn = (folder: string) => ({ PYTHONPATH: join(folder, "packages"), PYTHONWARNINGS: "ignore", PYTHONDONTWRITEBYTECODE: "1" });
const driveNode = (folder: string) => (input: string) => ["node", join(import.meta.dir, "node/drive.cjs"), input, join(folder, "node_modules")];
const drivePython = (input: string) => ["python3", join(import.meta.dir, "python/drive.py"), input];

test("the library for Python does what docs/compatibility.md says", async () => {
  const folder = await installPythonLibrary();
  const uses = JSON.parse(await run(drivePython(await open()), folder, { ...withoutProxy, ...pythonIn(folder) }));
  expect(uses).toEqual(ofPython);
  expectDocumented("python", uses);
});

test("the unchanged library for Python, which has its host built in, does the same with plaza exec --as", async () => {
  const folder = await installPythonLibrary();
  const env = pythonIn(folder);
  const find = "from facebook_business.session import FacebookSession; print(FacebookSession.GRAPH)";
  const address = await run(["python3", "-c", find], folder, env);
  expect(JSON.parse(await runUnchanged(address, drivePython, folder, env))).toEqual(ofPython);
});

test("the library for Node does what docs/compatibility.md says", async () => {
  const folder = await installNodeLibrary();
  const uses = JSON.parse(await run(driveNode(folder)(await open()), folder, withoutProxy));
  expect(uses).toEqual(ofNode);
  expectDocumented("node", uses);
});

test("the unchanged library for Node, which has its host built in, does the same with plaza exec --as", async () => {
  const folder = await installNodeLibrary();
  const find = "console.log(require('facebook-nodejs-business-sdk').FacebookAdsApi.GRAPH)";
  const address = await run(["node", "-e", find], folder);
  expect(JSON.parse(await runUnchanged(address, driveNode(folder), folder))).toEqual(ofNode);
});
