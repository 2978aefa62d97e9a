/** Checks that the JSON Schemas, by which editors check files, agree with the code that reads these files. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Ajv from "ajv";
import { tokenKinds } from "#auth/token";
import { printedJson } from "#cli/terminal/printed-json";
import { configFileSchema } from "#config/config-file";
import { optionsWith } from "#config/options";
import { readConfig } from "#config/read-config";
import { settings } from "#features";
import { worldFileSchema } from "#graph/worlds/file/file-schema";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { fullWorld } from "#harness/full-world";
import { openPlaza } from "#harness/plaza";
import { buildRegistry } from "#main";
import { endAll, runPlaza } from "../cli/plaza-process.ts";
import { examplesOf } from "./examples.ts";

const ROOT = join(import.meta.dir, "../..");
const registry = buildRegistry();
const ajv = new Ajv({ strict: false });
const parse = (text: string): Record<string, unknown[]> => Bun.YAML.parse(text) as Record<string, unknown[]>;
const demo = readFileSync(join(ROOT, "worlds/demo.yaml"), "utf8");

interface Described {
  readonly description?: string;
  readonly anyOf?: readonly Described[];
  readonly items?: Described;
  readonly properties?: Readonly<Record<string, Described>>;
}

/** The keys of a schema and of the schemas inside it, with their descriptions. */
const keysOf = ({ anyOf = [], items, properties = {} }: Described, path: string): { path: string; description: string | undefined }[] => [
  ...[...anyOf, ...(items === undefined ? [] : [items])].flatMap((inner) => keysOf(inner, path)),
  ...Object.entries(properties).flatMap(([key, inner]) => [
    { path: `${path}.${key}`, description: inner.description },
    ...keysOf(inner, `${path}.${key}`),
  ]),
];

describe("world files", () => {
  const isRight = ajv.compile(worldFileSchema(sectionsOf(registry)));
  const problemsOf = (file: unknown) => (isRight(file) ? [] : isRight.errors);

  test("the demo world, that of the documentation, a full one and those of the fixtures are valid", () => {
    const documented = examplesOf("docs/operating/worlds.md").find((example) => "file" in example && example.file === "world.yaml");
    const compatibility = readFileSync(join(ROOT, "test/compatibility/world.yaml"), "utf8").replaceAll("{{receiver}}", "http://127.0.0.1:9000");
    const texts = [demo, (documented as { text: string }).text, compatibility];
    for (const file of [...texts.map(parse), fullWorld]) expect(problemsOf(file)).toEqual([]);
  });

  test("an export is valid", async () => {
    const plaza = await openPlaza({ world: fullWorld });
    const { exportWorld } = await import("#graph/worlds/file/import-export");
    expect(problemsOf(await exportWorld(plaza.world, plaza.registry))).toEqual([]);
  });

  test.each([
    ["an unknown key", { colours: [] }, "colours"],
    ["an unknown key of an entry", { pages: [{ id: "1", colour: "red" }] }, "pages[0].colour"],
    ["a missing key", { labels: [{ id: "1", page: "2" }] }, "labels[0].name"],
    ["a word that is none of the known ones", { tokens: [{ token: "a", type: "visitor", app: "1" }] }, "tokens[0].type"],
    ["an id that is none", { pages: [{ id: "one" }] }, "pages[0].id"],
    ["a list that is none", { pages: { id: "1" } }, "pages"],
  ])("%s is invalid for an editor and for an import", async (_, file, path) => {
    expect(problemsOf(file)).not.toEqual([]);
    await expect(openPlaza({ world: file })).rejects.toThrow(path);
  });

  test("every key has a description for editors, also inside other keys", () => {
    const described = keysOf(worldFileSchema(sectionsOf(registry)), "");
    expect(described.length).toBeGreaterThan(280);
    for (const { path, description } of described) expect({ path, description }).toEqual({ path, description: expect.stringMatching(/\w/) });
  });

  test("optional keys may be missing or empty, and a JSON file can name the schema", async () => {
    const file = { $schema: "world.schema.json", pages: [{ id: 1 }], labels: null, clock: {} };
    expect(problemsOf(file)).toEqual([]);
    await openPlaza({ world: file });
  });
});

describe("the demo world", () => {
  const file = parse(demo);

  test("has something of every kind, and a token of every kind", () => {
    // order: a world file may have its sections in any order.
    expect(Object.keys(file).sort()).toEqual([...sectionsOf(registry).map(({ key }) => key), "tokens"].sort());
    // order: a world file may have its tokens in any order.
    expect([...new Set((file.tokens as { type: string }[]).map(({ type }) => type))].sort()).toEqual([...tokenKinds].sort());
  });

  test("names its schema for editors, even in the package", () => {
    const schema = /^# yaml-language-server: \$schema=(\S+)$/m.exec(demo)?.[1] as string;
    expect(existsSync(join(ROOT, dirname("worlds/demo.yaml"), schema))).toBeTrue();
    const { files } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { files: string[] };
    expect(files).toEqual(expect.arrayContaining(["docs", "worlds"]));
  });
});

describe("plaza.config.yaml", () => {
  const schema = configFileSchema(settings);
  const isRight = ajv.compile(schema);
  const read = (values: Record<string, unknown>) => readConfig({}, {}, { path: "plaza.config.yaml", values }, settings);

  test("the default of each option is valid, and is read", () => {
    const defaults = Object.fromEntries(optionsWith(settings).map(({ name, default: value }) => [name, value]));
    const given = Object.entries(defaults).filter(([, value]) => value !== undefined);
    for (const [name, value] of given)
      expect({ name, isRight: isRight({ [name]: value }), read: read({ [name]: value }) }).toMatchObject({ name, isRight: true });
  });

  test.each([
    [{ port: 8080, "control-port": 0, rtmp_port: "off", rtmps_port: false }],
    [{ allow_callback: ["10.0.0.0/8", "receiver"], trusted_proxies: "10.0.0.0/8,192.168.0.0/16" }],
    [{ surface_hosts: { app: "app.example.com" } }],
    [{ data: "./data", profile: "clients", sandbox: true, labels_per_page_max: 10 }],
  ])("%j is valid, and is read", (values) => {
    expect({ isRight: isRight(values), errors: isRight.errors }).toEqual({ isRight: true, errors: null });
    read(values);
  });

  test.each([
    [{ prot: 1 }],
    [{ port: 70_000 }],
    [{ profile: "lenient" }],
    [{ sandbox: "maybe" }],
    [{ surface_hosts: { backend: "example.com" } }],
    [{ config: "other.yaml" }],
  ])("%j is invalid for an editor and for the start", (values) => {
    expect(isRight(values)).toBeFalse();
    // The message has the name of the option as on a command line, or as in the file.
    const [name = ""] = Object.keys(values);
    expect(() => read(values)).toThrow(new RegExp(`${name}|--${name.replaceAll("_", "-")}`));
  });

  test("plaza schema prints both and those of commands, and names the known ones", async () => {
    const printed = async (file: string) => runPlaza(["schema", file]);
    for (const file of ["world", "config"]) {
      const { stdout } = await printed(file);
      expect(JSON.parse(stdout)).toEqual(JSON.parse(readFileSync(join(ROOT, `docs/reference/${file}.schema.json`), "utf8")));
    }
    for (const [command, described] of Object.entries(printedJson)) expect(JSON.parse((await printed(command)).stdout)).toEqual(described as object);
    const stderr = expect.stringContaining("Allowed choices are world, config, start,");
    expect(await printed("labels")).toMatchObject({ code: 2, stdout: "", stderr });
    await endAll();
  });

  test("every option has a description for editors", () => {
    const described = Object.entries(schema.properties as Record<string, { description?: string }>);
    expect(described.length).toBeGreaterThan(40);
    for (const [name, { description }] of described) expect({ name, description }).toEqual({ name, description: expect.stringMatching(/\w/) });
  });
});
