/** Collects all text pages: the pages of the contract, which are made from the registry, and the documentation pages. */
import type { Registry } from "#graph/contract/registry";

const made = new WeakMap<Registry, Promise<ReadonlyMap<string, string>>>();

/** Returns the text of each page by its path. The text pages are made at the first call. */
export function textPages(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const known = made.get(registry) ?? make(registry);
  made.set(registry, known);
  return known;
}

async function make(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const [{ llmsPages }, { guidePages }] = await Promise.all([import("./pages.ts"), import("./guides.ts")]);
  return new Map([...llmsPages(registry), ...(await guidePages())]);
}
