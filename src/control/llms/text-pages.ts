/**
 * Collects all text pages, which the control port and MCP serve: the pages of the contract, which are made from the registry, and the documentation
 * pages: guides, the interface, recipes, operation, reference, and decisions. The documentation pages are files of the source tree and of the package;
 * the executable contains all pages in one file (`tools/package.mjs`).
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Registry } from "#graph/contract/registry";
import { ROOT } from "#jobs/child-process";
import { embeddedText } from "../console.ts";
import folders from "./guide-folders.json" with { type: "json" };

const made = new WeakMap<Registry, Promise<ReadonlyMap<string, string>>>();

/** Returns the text of each page by its path. The text pages are made at the first call. */
export function textPages(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const known = made.get(registry) ?? make(registry);
  made.set(registry, known);
  return known;
}

async function make(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const { llmsPages } = await import("./pages.ts");
  return new Map([...llmsPages(registry), ...(await guidePages())]);
}

/** The name of the file in the executable, which is a JSON object with the text of each page. */
const PACK = "guides";
/** The page that lists the operations is left out, because the pages of the areas contain all operations. */
const LEFT_OUT = "operations.md";

/** Returns the text of each page by the page's path, e.g. `guides/testing.md`, because links between pages use these paths. */
export async function guidePages(): Promise<ReadonlyMap<string, string>> {
  const embedded = await embeddedText(PACK);
  if (embedded !== undefined) return new Map(Object.entries(JSON.parse(embedded) as Record<string, string>));
  if (!existsSync(join(ROOT, folders[0] as string))) return new Map();
  const files = folders.flatMap((folder) => namesIn(join(ROOT, folder)).map((name) => join(folder, name)));
  return new Map(await Promise.all(files.map(async (file) => [file.slice(file.indexOf("/") + 1), await Bun.file(join(ROOT, file)).text()] as const)));
}

const namesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".md") && name !== LEFT_OUT)
    .sort();
