/**
 * Runs Schemathesis on every document of the graph. Each OpenAPI document is tested with its own server, because the requests change the server's
 * data.
 */
import { test } from "bun:test";
import { createHmac } from "node:crypto";
import { features } from "#features";
import { Registry } from "#graph/contract/registry";
import { startServer } from "#harness/server";
import { surfaces } from "#surfaces/surfaces";
import { demoNodes } from "../client/demo-nodes.ts";
import type { OpenapiDocument, Operation } from "./documents.ts";
import { expectNoFault, type LeftOut } from "./schemathesis.ts";

const TIMEOUT_MS = 1_800_000;

const leftOut: readonly LeftOut[] = [
  {
    check: "unsupported_method",
    because: "D-04: a request with a method that an address does not have gets 400 with the message that hides objects, and not 405",
  },
  { check: "positive_data_acceptance", because: "D-21: a valid request gets 400 if its object does not exist or the caller may not see the object" },
  { check: "use_after_free", because: "D-21: a request for a deleted object gets 400 and not 404, like one for an object that never existed" },
];
const ofOneType: LeftOut = {
  check: "allow_header_conformance",
  because: "D-04: the header Allow lists the methods of all node types at an address of the same form",
};

/** Checks that are left out for certain operations only. */
const leftOutOfSome: readonly (LeftOut & { isOf(method: string, operation: Operation): boolean })[] = [
  {
    check: "missing_required_header",
    because: "D-14: a request of page messaging without the bearer header gets 403, and not 401",
    isOf: (_method, { security }) => security.some((way) => Object.keys(way).length === 3),
  },
  {
    check: "negative_data_rejection",
    because:
      "D-34: a text parameter accepts a number and null means an omitted parameter, because a body means the same as JSON and as a form; the check rejection_beyond_d34 of graph_hooks.py checks all other wrong bodies",
    isOf: (method) => method === "post",
  },
];

interface Fuzzed {
  readonly title: string;
  /** The query of the document's URL. */
  readonly query: string;
  readonly token: string;
  /** The type of the node whose id is in the paths. By default, the paths may name nodes of any type. */
  readonly type?: string;
  readonly leftOut: readonly LeftOut[];
}

const { endpoints } = new Registry(features);
const types = [...new Set(endpoints.flatMap(({ nodeType }) => nodeType ?? []))];

const documents: readonly Fuzzed[] = [
  { title: "the whole", query: "", token: "demo-page-token", leftOut },
  ...surfaces.map(({ name }) => ({
    title: `the surface ${name}`,
    query: `?surface=${name}`,
    token: name === "microblog" ? "demo-microblog-token" : "demo-user-token",
    leftOut,
  })),
  ...types.map((type) => {
    const [, token = "demo-page-token"] = demoNodes[type] ?? [];
    return { title: `the node type ${type}`, query: `?type=${type}`, token, type, leftOut: [...leftOut, ofOneType] };
  }),
];

/** Creates an upload, because the demo world has no uploads. */
async function makeUpload(base: string): Promise<string> {
  const body = new FormData();
  body.set("file", new File(["id,title,link,image_link\n"], "items.csv"));
  const headers = { authorization: "Bearer demo-page-token" };
  const response = await fetch(`${base}/v26.0/8101/uploads`, { method: "POST", headers, body });
  return ((await response.json()) as { id: string }).id;
}

function configuration(token: string): string {
  const text = JSON.stringify(token);
  const places = ["access_token", "oauth_token"].map((name) => `[auth.openapi.${name}]\napi_key = ${text}`);
  return [...places, `[auth.openapi.bearer]\nbearer = ${text}`, ""].join("\n");
}

/** Puts the exceptions of each operation into one block. */
function perOperation({ paths }: OpenapiDocument): string {
  const operations = Object.values(paths).flatMap((item) => Object.entries(item));
  const left = operations.map(([method, operation]) => ({
    name: operation.operationId,
    checks: leftOutOfSome.filter(({ isOf }) => isOf(method, operation)).map(({ check }) => `[operations.checks.${check}]\nenabled = false\n`),
  }));
  const groups = Map.groupBy(left, ({ checks }) => checks.join(""));
  groups.delete("");
  const text = ([checks, same]: [string, typeof left]) =>
    `[[operations]]\ninclude-operation-id = ${JSON.stringify(same.map(({ name }) => name))}\n${checks}`;
  return [...groups].map(text).join("");
}

for (const document of documents) {
  test(
    `Schemathesis finds no fault with ${document.title}`,
    async () => {
      const server = await startServer(["--data", ":memory:"]);
      const id = document.type === "product_feed_upload" ? await makeUpload(server.base_url) : demoNodes[document.type ?? ""]?.[0];
      const address = `${server.base_url}/openapi.json${document.query}`;
      const own = (await (await fetch(address)).json()) as OpenapiDocument;
      // D-15: the proof of an app token is not checked.
      const proof = createHmac("sha256", "demo-app-secret").update(document.token).digest("hex");
      await expectNoFault({
        server,
        address,
        configuration: configuration(document.token) + perOperation(own),
        leftOut: document.leftOut,
        known: id === undefined ? [] : [{ parameter: "path.id", value: id }],
        fixed: { "query.appsecret_proof": proof },
        hooks: "graph_hooks.py",
      });
    },
    TIMEOUT_MS,
  );
}
