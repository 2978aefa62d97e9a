/** Checks that the registry refuses features with mistakes, so that the server does not start. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Type } from "typebox";
import { definePolicy, nobody, type Policy } from "#auth/policy";
import { features } from "#features";
import { defineError } from "#kernel/errors";
import { type PortName, PortRegistry } from "#kernel/ports";
import { defineFeature, defineSetting, type Feature } from "./feature.ts";
import { type Field, readOperation, serveRead } from "./operation.ts";
import { Registry } from "./registry.ts";

const notes = (more: Partial<Feature>): Feature => defineFeature({ name: "notes", migrations: [], ...more });
const registryWith = (more: Partial<Feature>): Registry => new Registry([...features, notes(more)]);
const refusalOf = (more: Partial<Feature>) => expect(() => registryWith(more));

const contract = readOperation({
  operation: "readNotes",
  summary: "Reads notes.",
  clauses: [],
  decisions: [],
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: nobody,
  errorForm: "wrapped",
  on: "page",
  edge: "notes",
  params: Type.Object({}),
  returns: Type.Object({}),
  errors: [],
});
const serve = (more: Partial<typeof contract>) => [serveRead({ ...contract, ...more }, async () => ({}))];
const unlisted = definePolicy({ ...nobody, name: "unlisted" });
const lost = undefined as unknown as Policy;
const note: Field = { schema: Type.String(), policy: nobody };

test("a correct feature is accepted", () => {
  const registry = registryWith({ operations: serve({ policy: unlisted }), policies: [unlisted] });
  expect(registry.find("page", "GET", "notes")).toMatchObject({ access: { operation: "readNotes", policy: { name: "unlisted" } } });
  expect(registry.openPorts().has("page")).toBe(true);
});

test("a word in an address is an edge below a node, and otherwise a literal", () => {
  const registry = registryWith({ operations: [...serve({ policy: nobody }), ...serve({ operation: "readAllNotes", on: null, edge: "all_notes" })] });
  expect(["notes", "all_notes", "nothing"].map((word) => [registry.isEdge(word), registry.isLiteral(word)])).toEqual([
    [true, false],
    [false, true],
    [false, false],
  ]);
});

test("duplicate names are refused, and both features are named", () => {
  refusalOf({ name: "pages" }).toThrow("two features have the name pages");
  refusalOf({ nodeTypes: [{ type: "page", policy: nobody }] }).toThrow("pages and notes both define the node type page");
  refusalOf({ operations: serve({ operation: "listPersonas" }) }).toThrow("personas and notes both define the operation listPersonas");
  refusalOf({ policies: [{ ...unlisted, name: "pageMessaging" }] }).toThrow("pages and notes both define the policy pageMessaging");
  refusalOf({ policies: [{ ...nobody }] }).toThrow("the server and notes both define the policy nobody");
  refusalOf({ policies: [unlisted, { ...unlisted }] }).toThrow("notes defines the policy unlisted twice");
  const error = defineError({ name: "tokenExpired", status: 400, code: 1, type: "OAuthException", when: "never", mend: "" });
  refusalOf({ errors: [error] }).toThrow("the server and notes both define the error tokenExpired");
  const setting = defineSetting({ name: "app_event_days", value: "N", minimum: 0, default: 0, summary: "nothing" });
  refusalOf({ settings: [setting] }).toThrow("app-events and notes both define the setting app_event_days");
  const jobs = features.flatMap((feature) => (feature.name === "app-events" ? (feature.jobs ?? []) : []));
  refusalOf({ jobs }).toThrow("app-events and notes both define the job app_event_retention");
  const worldSections = features.flatMap((feature) => (feature.name === "pages" ? (feature.worldSections ?? []) : []));
  refusalOf({ worldSections }).toThrow("pages and notes both define the world section pages");
  const webhookFields = features.flatMap((feature) => (feature.name === "live-videos" ? (feature.webhookFields ?? []) : []));
  refusalOf({ webhookFields }).toThrow("define the webhook field");
});

test("two operations on one address are refused", () => {
  refusalOf({ operations: serve({ edge: "personas" }) }).toThrow("readNotes and listPersonas claim the same address: GET page personas");
});

test("an operation on a node type that no feature declares is refused", () => {
  refusalOf({ operations: serve({ on: "notebook" }) }).toThrow("readNotes is on the node type notebook, which no feature declares");
});

test("a field that exists already, or for missing reads, is refused", () => {
  const on = (type: string, name: string) => ({ fieldExtensions: [{ on: type, name, field: note }] });
  refusalOf(on("persona", "name")).toThrow("two features declare the field name of persona");
  refusalOf(on("page_person", "note")).toThrow("notes gives the field note to reads of page_person, which no feature declares");
  refusalOf(on("notebook", "note")).toThrow("notes gives the field note to reads of notebook, which no feature declares");
});

test("D-16: anything without a policy, or with an unlisted one, is refused", () => {
  refusalOf({ nodeTypes: [{ type: "notebook", policy: lost }] }).toThrow("node type notebook has no policy");
  refusalOf({ operations: serve({ policy: lost }) }).toThrow("readNotes has no policy");
  refusalOf({ operations: serve({ policy: unlisted }) }).toThrow("readNotes has the policy unlisted, which no feature lists");
  refusalOf({ operations: serve({ visibility: unlisted }) }).toThrow("the visibility of readNotes has the policy unlisted, which no feature lists");
  const extension = { on: "persona", name: "note", field: { ...note, policy: lost } };
  refusalOf({ fieldExtensions: [extension] }).toThrow("field note of persona has no policy");
});

test("an error that no feature lists is refused", () => {
  const error = defineError({ name: "noteLost", status: 404, code: 100, type: "OAuthException", when: "the note is gone", mend: "" });
  refusalOf({ operations: serve({ errors: [error] }) }).toThrow("readNotes lists the error noteLost, which no feature defines");
  expect(registryWith({ operations: serve({ errors: [error] }), errors: [error] }).errors.get("noteLost")).toBe(error);
});

test("a port that is provided twice, or by no feature, is refused", () => {
  const twice = registryWith({ ports: (ports) => ({ page: ports.get("page") }) });
  expect(() => new PortRegistry().get("page")).toThrow("no feature provides the port page");
  expect(() => twice.openPorts()).toThrow("the port page is provided twice");
  const without = (name: string) => new Registry(features.filter((feature) => feature.name !== name));
  expect(() => without("custom-labels").openPorts()).toThrow("pages needs the port label_writes, which no feature provides");
  expect(() => without("webhook-overrides").openPorts()).toThrow("the server needs the port webhook_override, which no feature provides");
});

const SOURCE = new URL("../../", import.meta.url).pathname;

function portsAskedIn(folder: string): Set<PortName> {
  const files = [...new Bun.Glob(`${folder}/**/*.ts`).scanSync({ cwd: SOURCE })].filter((path) => !path.endsWith(".test.ts"));
  const asked = files.flatMap((path) => [...readFileSync(`${SOURCE}${path}`, "utf8").matchAll(/\bports\.get\("(\w+)"\)/g)]);
  return new Set(asked.map(([, name]) => name as PortName));
}

test("each feature names the ports of others that it uses, and the server uses only those that it needs", () => {
  const ports = new Registry(features).openPorts();
  expect(portsAskedIn("auth")).toContain("app");
  for (const { name, ports: provide, needs = [] } of features) {
    const own = new Set(Object.keys(provide?.(ports) ?? {}));
    const asked = [...portsAskedIn(`features/${name}`)].filter((port) => !own.has(port)).sort();
    expect({ name, needs: [...needs].sort() }).toEqual({ name, needs: asked });
  }
  for (const port of portsAskedIn("{auth,graph,webhooks,control,http,ingest,cli}"))
    expect({ port, isProvided: ports.has(port) }).toEqual({ port, isProvided: true });
});
