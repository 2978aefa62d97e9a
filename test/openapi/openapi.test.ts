import { expect, test } from "bun:test";
import { openapiOf } from "#control/openapi";
import { controlRoutes } from "#control/routes";
import { openapiDocument } from "#graph/contract/openapi";
import type { SurfaceName } from "#graph/pipeline/request";
import { standardCalendar } from "#graph/versions/calendar";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { withoutCitations } from "#kernel/text";
import { buildRegistry } from "#main";
import { surfaces } from "#surfaces/surfaces";
import { problemsOf } from "./lint.ts";

const registry = buildRegistry();
const addresses = Object.fromEntries(surfaces.map(({ name, mount }) => [name, `https://graph.plaza.test${mount}`])) as Record<SurfaceName, string>;
const documentOf = (profile: "strict" | "clients", type?: string) =>
  openapiDocument(registry, { profile, calendar: standardCalendar, addresses, ...(type === undefined ? {} : { type }) });

/** One address serves many node types whose shapes overlap: `oneOf` is what operating.md promises there. */
const OVERLAP = "no-illogical-composition-keywords";

test("the document of all surfaces passes the recommended rules", async () => {
  for (const profile of ["strict", "clients"] as const) {
    expect((await problemsOf(documentOf(profile))).filter((problem) => !problem.includes(OVERLAP))).toEqual([]);
  }
});

test("the document of each node type passes them without exception", async () => {
  for (const { type } of registry.types) expect({ type, problems: await problemsOf(documentOf("strict", type)) }).toEqual({ type, problems: [] });
});

test("the control API's document passes them", async () => {
  const document = openapiOf(controlRoutes(registry), sectionsOf(registry), "https://control.plaza.test");
  expect((await problemsOf(document)).filter((problem) => !problem.includes(OVERLAP))).toEqual([]);
});

test("every operation stands in the document, and nothing else", () => {
  const { paths } = documentOf("strict") as { paths: Record<string, Record<string, { description?: string }>> };
  const text = JSON.stringify(paths);
  for (const { access, served } of registry.endpoints) {
    if (served === undefined) continue;
    const isSummarized = text.includes(JSON.stringify(withoutCitations(served.contract.summary)).slice(1, -1));
    expect({ operation: access.operation, isSummarized }).toEqual({ operation: access.operation, isSummarized: true });
  }
  for (const [path, item] of Object.entries(paths)) {
    const edge = path.split("/").at(-1) as string;
    for (const method of Object.keys(item).filter((key) => key !== "servers" && key !== "parameters")) {
      const isKnown = edge === "{id}" || registry.isEdge(edge) || registry.isLiteral(edge);
      expect({ path, method, isKnown }).toEqual({ path, method, isKnown: true });
    }
  }
});
