/** Checks the addresses that the console requests. The type check cannot find wrong addresses if the code joins them from several strings. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { controlRoutes } from "#control/routes";
import { features } from "#features";
import { Registry } from "#graph/contract/registry";

const SOURCES = join(import.meta.dir, "../../console/src");

/** The form of an address, e.g. `/v1/worlds/{w}/nodes/{}`, in which a placeholder replaces each variable segment. */
const shapeOf = (path: string): string => path.replaceAll(/\$?\{[^{}]*(?:\([^)]*\))?\}/g, "{}").replace(/\?.*$/, "");

/** The addresses in a source file, by the names of the constants and functions that contain them. */
const named = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/const (\w+)[^=;]*= (?:\([^)]*\) => )?["`](\/v1\/[^"`]+)/g)].map(([, name = "", path = ""]) => [name, path]));

function usesOf(text: string): string[] {
  const names = named(text);
  const asked = [...text.matchAll(/api\s*\.(GET|POST|PUT|PATCH|DELETE)\(\s*(?:["`](\/v1\/[^"`]+)["`]|(\w+))/g)].map(
    ([, method = "", path, name = ""]) => `${method} ${shapeOf(path ?? names.get(name) ?? name)}`,
  );
  // The search also finds addresses that the code makes in other ways, e.g. those of event streams, and the paths that an action is given.
  const streamed = [...text.matchAll(/`(\/v1\/[^`]+)`/g)].map(([, path = ""]) => `* ${shapeOf(path)}`);
  const given = [...text.matchAll(/path: ((?:"\/v1\/[^"]+"(?: \| )?)+)/g)].flatMap(([, paths = ""]) =>
    [...paths.matchAll(/"([^"]+)"/g)].map(([, path = ""]) => `POST ${shapeOf(path)}`),
  );
  return [...asked, ...streamed, ...given];
}

const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
const uses = new Set(files.flatMap((name) => usesOf(readFileSync(join(SOURCES, name), "utf8"))));
const routes = controlRoutes(new Registry(features));
/** Whether an address that the console requests fits a route of the control API. A placeholder in the address or in the route fits any value. */
function fits(use: string, { method, path }: (typeof routes)[number]): boolean {
  const [by = "", at = ""] = use.split(" ");
  const [given, wanted] = [at.split("/"), shapeOf(path).split("/")];
  const isSame = (one: string, index: number): boolean => one === "{}" || wanted[index] === "{}" || one === wanted[index];
  return (by === "*" || by === method) && given.length === wanted.length && given.every(isSame);
}

test("the control API has every address that the console requests", () => {
  const asked = [...uses].filter((use) => use.includes(" /v1"));
  expect(asked.length).toBeGreaterThan(50);
  expect(asked.filter((use) => !routes.some((route) => fits(use, route)))).toEqual([]);
});
