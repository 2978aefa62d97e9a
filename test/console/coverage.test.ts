/** Everything that the control API can do, the console can: which of its operations each view uses, read from what the views ask for. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { controlRoutes } from "#control/routes";
import { features } from "#features";
import { Registry } from "#graph/contract/registry";

const SOURCES = join(import.meta.dir, "../../console/src");

/** What the console has no use for, each with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  expectRequests: "tests wait with it; the console shows requests as they come, with the same filters",
  expectWebhooks: "tests wait with it; the console shows webhooks as they change",
  reportFeed: "media servers report with it; the console's own broadcasts tell of themselves",
  takeFeedCallback: "media servers call it, with the stream key in place of the control key",
  listAppEvents: "the export has the whole log, and the view the latest events as they come",
  emitChatappEvent: "Webhooks triggers the same events, of every object",
};

/** `/v1/worlds/{w}/nodes/{}`: whatever a segment's value is called, and however it is filled in. */
const shapeOf = (path: string): string => path.replaceAll(/\$?\{[^{}]*(?:\([^)]*\))?\}/g, "{}").replace(/\?.*$/, "");

/** The addresses that a file names, by the names of constants and functions that stand for them. */
const named = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/const (\w+)[^=;]*= (?:\([^)]*\) => )?["`](\/v1\/[^"`]+)/g)].map(([, name = "", path = ""]) => [name, path]));

function usesOf(text: string): string[] {
  const names = named(text);
  const asked = [...text.matchAll(/api\s*\.(GET|POST|PUT|PATCH|DELETE)\(\s*(?:["`](\/v1\/[^"`]+)["`]|(\w+))/g)].map(
    ([, method = "", path, name = ""]) => `${method} ${shapeOf(path ?? names.get(name) ?? name)}`,
  );
  // Addresses that are made in other ways, for streams of events among them; and paths that an action is given.
  const streamed = [...text.matchAll(/`(\/v1\/[^`]+)`/g)].map(([, path = ""]) => `* ${shapeOf(path)}`);
  const given = [...text.matchAll(/path: ((?:"\/v1\/[^"]+"(?: \| )?)+)/g)].flatMap(([, paths = ""]) =>
    [...paths.matchAll(/"([^"]+)"/g)].map(([, path = ""]) => `POST ${shapeOf(path)}`),
  );
  return [...asked, ...streamed, ...given];
}

const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
const users = Map.groupBy(
  files.flatMap((name) => usesOf(readFileSync(join(SOURCES, name), "utf8")).map((use) => ({ use, name }))),
  ({ use }) => use,
);
const routes = controlRoutes(new Registry(features));
/** What stands for a value, here or there, is any. */
function fits(use: string, { method, path }: (typeof routes)[number]): boolean {
  const [by = "", at = ""] = use.split(" ");
  const [given, wanted] = [at.split("/"), shapeOf(path).split("/")];
  const isSame = (one: string, index: number): boolean => one === "{}" || wanted[index] === "{}" || one === wanted[index];
  return (by === "*" || by === method) && given.length === wanted.length && given.every(isSame);
}
const isUsed = (route: (typeof routes)[number]): boolean => [...users.keys()].some((use) => fits(use, route));

test("each operation of the control API is used by a view, or has a reason why not", () => {
  expect(routes.length).toBeGreaterThan(70);
  const unused = routes.filter((route) => !isUsed(route)).map(({ operation }) => operation);
  expect(unused.filter((operation) => WITHOUT[operation] === undefined)).toEqual([]);
  // A reason that no longer holds is no longer needed.
  expect(Object.keys(WITHOUT).filter((operation) => !unused.includes(operation))).toEqual([]);
});

test("what the console asks for, the control API has", () => {
  const unknown = [...users.keys()].filter((use) => use.includes(" /v1") && !routes.some((route) => fits(use, route)));
  expect(unknown).toEqual([]);
});
