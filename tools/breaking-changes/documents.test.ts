/** Documents of today with one thing changed: what breaks those who rely on them is found, and nothing else. */
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openapiOf } from "#control/openapi/document";
import { controlRoutes } from "#control/routes";
import { openapiDocument } from "#graph/contract/openapi/document";
import { standardCalendar } from "#graph/versions/calendar";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { buildRegistry } from "#main";
import { asyncapiDocument } from "#webhooks/catalogue/asyncapi";
import { BUN, ROOT } from "../steps.ts";
import { asyncapiBreaks, openapiBreaks } from "./documents.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test changes any place of a document.
type Loose = any;

const registry = buildRegistry();
const base = "https://graph.plaza.test";
const addresses = { base, app: `${base}/app`, microblog: `${base}/microblog`, ads: `${base}/ads`, social_login: `${base}/social` };
const NOW = 1_795_000_000;
const document = openapiDocument(registry, { profile: "strict", calendar: standardCalendar, now: NOW, addresses });

const today = (): Loose => JSON.parse(JSON.stringify(document));
const webhooks = (): Loose => asyncapiDocument(registry.webhookFields, "v26.0", NOW * 1000);

const changed = (change: (document: Loose) => void): string[] => {
  const other = today();
  change(other);
  return openapiBreaks(today(), other);
};

const LABELS = "/{version}/{id}/custom_labels";
const NODE = "/{version}/{id}";

test("what did not change breaks nothing", () => {
  expect(openapiBreaks(today(), today())).toEqual([]);
  expect(asyncapiBreaks(webhooks(), webhooks())).toEqual([]);
});

test("of the control API too: nothing of itself, and what is gone or needed now", () => {
  const control = (): Loose => JSON.parse(JSON.stringify(openapiOf(controlRoutes(registry), sectionsOf(registry), base)));
  expect(openapiBreaks(control(), control())).toEqual([]);
  const other = control();
  delete other.paths["/v1/worlds/{w}/nodes/pages/{id}"].patch;
  other.paths["/v1/worlds/{w}/clock/advance"].post.requestBody.content["application/json"].schema.required.push("why");
  expect(openapiBreaks(control(), other)).toEqual([
    "PATCH /v1/worlds/{w}/nodes/pages/{id}: is gone",
    "POST /v1/worlds/{w}/clock/advance: body.why: is required now",
  ]);
});

test.each<[string, (document: Loose) => void, string]>([
  ["an address that is gone", ({ paths }) => delete paths[LABELS].post, `POST ${LABELS}: is gone`],
  [
    "another name",
    ({ paths }) => Object.assign(paths[LABELS].post, { operationId: "makeLabel" }),
    `POST ${LABELS}: was called createLabel and is called makeLabel`,
  ],
  [
    "tokens that are not enough any more",
    ({ paths }) => Object.assign(paths["/{version}/live_map"].get, { security: [{ bearer: [], access_token: [] }] }),
    "GET /{version}/live_map: tokens in bearer are not enough any more",
  ],
  [
    "a version that is no longer served",
    ({ paths }) => paths[LABELS].post.parameters.find(({ name }: Loose) => name === "version").schema.enum.shift(),
    `POST ${LABELS}: path version: v20.0 is no longer taken`,
  ],
  [
    "a parameter that is required now",
    ({ paths }) =>
      Object.assign(
        paths["/{version}/live_map"].get.parameters.find(({ name }: Loose) => name === "country"),
        { required: true },
      ),
    "GET /{version}/live_map: query country is required now",
  ],
  [
    "a type of body that is no longer taken",
    ({ paths }) => delete paths[LABELS].post.requestBody.content["multipart/form-data"],
    `POST ${LABELS}: body: multipart/form-data is no longer taken`,
  ],
  [
    "a host that has it no longer",
    ({ paths }) => Object.assign(paths["/{id}/required_actions"].get, { servers: [{ url: `${base}/elsewhere` }] }),
    `GET /{id}/required_actions: is gone from ${addresses.app}`,
  ],
  ["a response without a body", ({ paths }) => delete paths[LABELS].post.responses[200], `POST ${LABELS}: response 200 is gone`],
  [
    "a key of a body that is required now",
    ({ components }) => Object.assign(components.schemas.CreateLiveVideoRequest, { required: ["title"] }),
    "POST /{version}/{id}/live_videos: body.title: is required now",
  ],
  [
    "a limit that is lower",
    ({ components }) => Object.assign(components.schemas.CreateLiveCommentRequest.properties.message, { maxLength: 10 }),
    "POST /{version}/{id}/comments: body.message: maxLength was 8000 and is 10",
  ],
  [
    "a value that is no longer taken",
    ({ components }) => components.schemas.CreateLiveReactionRequest.properties.type.enum.shift(),
    "POST /{version}/{id}/reactions: body.type: LIKE is no longer taken",
  ],
  [
    "a field that is gone from one node type of an address",
    ({ components }) => delete components.schemas.Persona.properties.name,
    `GET ${NODE}: response 200.name: is gone`,
  ],
  [
    "a field of another type",
    ({ components }) => Object.assign(components.schemas.Persona.properties.name, { type: "integer" }),
    `GET ${NODE}: response 200.name: the type was string and is integer`,
  ],
  [
    "an error in another form",
    ({ paths }) =>
      Object.assign(paths[LABELS].post.responses[403].content["application/json"], { schema: { $ref: "#/components/schemas/WrappedError" } }),
    `POST ${LABELS}: response 403.message: is gone`,
  ],
])("%s is found", (_, change, expected) => {
  expect(changed(change)).toContain(expected);
});

test("a new address, field, parameter, version or value breaks nothing", () => {
  const additions = changed(({ paths, components }) => {
    paths["/{version}/new"] = structuredClone(paths["/{version}/live_map"]);
    paths[LABELS].post.parameters.push({ name: "colour", in: "query", schema: { type: "string" } });
    paths[LABELS].post.parameters.find(({ name }: Loose) => name === "version").schema.enum.push("v27.0");
    components.schemas.Persona.properties.colour = { type: "string" };
    components.schemas.CreateLabelRequest.properties.colour = { type: "string" };
    components.schemas.CreateLiveReactionRequest.properties.type.enum.push("YAWN");
  });
  expect(additions).toEqual([]);
});

test("a webhook field that is gone, or a key of its payload, is found", () => {
  const [one, other] = [webhooks(), webhooks()];
  one.components.messages.PageWebhook.examples.shift();
  delete other.components.schemas.PageCustomLabelsUpdate.properties.value.properties.user;
  expect(asyncapiBreaks(webhooks(), one)).toEqual(["webhooks: the field custom_labels of page is gone"]);
  expect(asyncapiBreaks(webhooks(), other)).toContain("webhooks: PageCustomLabelsUpdate.value.user: is gone");
});

test("the check fails for a break of what is released, until it is accepted", async () => {
  const folder = mkdtempSync(join(tmpdir(), "plaza-released-"));
  try {
    const check = async (...options: string[]) => {
      const child = Bun.spawn([BUN, "tools/breaking-changes/check.ts", "--released", join(folder, "released"), ...options], {
        cwd: ROOT,
        stderr: "pipe",
      });
      return { errors: await new Response(child.stderr).text(), exitCode: await child.exited };
    };
    const [file, accepted] = ["openapi.json", "accepted.json"].map((name) => join(folder, "released", name)) as [string, string];
    expect(await check()).toEqual({ errors: "", exitCode: 0 });
    await check("--release");
    expect(await check()).toEqual({ errors: "", exitCode: 0 });
    const released: Loose = JSON.parse(readFileSync(file, "utf8"));
    released.paths["/{version}/once"] = released.paths[LABELS];
    writeFileSync(file, JSON.stringify(released));
    const broken = await check();
    expect(broken.exitCode).toBe(1);
    expect(broken.errors).toContain("GET /{version}/once: is gone\nPOST /{version}/once: is gone\n");
    writeFileSync(accepted, JSON.stringify(["GET /{version}/once: is gone", "POST /{version}/once: is gone"]));
    expect(await check()).toEqual({ errors: "", exitCode: 0 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
