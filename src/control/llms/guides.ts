/**
 * Reads the documentation pages, which the control port and MCP serve as text: guides, the interface, recipes, operation, reference, and decisions.
 * The documentation pages are files of the source tree and of the package; the executable contains all pages in one file (`tools/package.mjs`).
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#jobs/child-process";
import { embeddedText } from "../console.ts";
import folders from "./guide-folders.json" with { type: "json" };

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
