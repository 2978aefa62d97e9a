/** All pages of text: the contract, made from the registry, and the pages for people. */
import type { Registry } from "#graph/contract/registry";

const made = new WeakMap<Registry, Promise<ReadonlyMap<string, string>>>();

/** The text of each page by its path, made at the first use. */
export function textPages(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const known = made.get(registry) ?? make(registry);
  made.set(registry, known);
  return known;
}

async function make(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const [{ llmsPages }, { guidePages }] = await Promise.all([import("./pages.ts"), import("./guides.ts")]);
  return new Map([...llmsPages(registry), ...(await guidePages())]);
}
