/**
 * Schemathesis over every document of the graph: requests that fit the document, and requests that break it in one place, with what it
 * checks of the responses. Each document has a server of its own, because the requests change what it holds.
 */
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { features } from "#features";
import { Registry } from "#graph/contract/registry";
import { startServer, temporaryFolder } from "#harness/server";
import { surfaces } from "#surfaces/surfaces";
import { demoNodes } from "../client/demo-nodes.ts";

const PROGRAM = join(import.meta.dir, "../../.tools/openapi/bin/st");
/** Of each operation and phase. */
const EXAMPLES = 50;
const TIMEOUT_MS = 900_000;

/** What Schemathesis asks of every server and a decision answers otherwise. Nothing else is left out. */
const leftOut = [
  { check: "unsupported_method", because: "D-04: a method that an address does not have is 400, in the words that hide objects, and not 405" },
  { check: "positive_data_acceptance", because: "D-21: an object that does not exist, or that the caller may not see, is 400" },
  { check: "use_after_free", because: "D-21: what was deleted does not exist any more, so it is 400 and not 404" },
] as const;
const ofPageMessaging = {
  check: "missing_required_header",
  because: "D-14: page messaging returns 403 without the bearer header, and not 401",
} as const;
/** Of documents with a POST. */
const ofBodies = {
  check: "negative_data_rejection",
  because: "D-34: a body means the same as JSON and as a form, so a number serves where a text is meant, and null is a parameter that is left out",
} as const;
const ofOneType = {
  check: "allow_header_conformance",
  because: "D-04: Allow names the methods of the form of an address, those of other node types too",
} as const;

interface Fuzzed {
  readonly title: string;
  /** Of the document's address. */
  readonly query: string;
  readonly token: string;
  /** Of the path; any where it is left out. */
  readonly id?: string;
  readonly leftOut: readonly { readonly check: string }[];
}

const { endpoints } = new Registry(features);
const types = [...new Set(endpoints.flatMap(({ nodeType }) => nodeType ?? []))];

type IsOf = (endpoint: (typeof endpoints)[number]) => boolean;

const leftOutOf = (isOf: IsOf): readonly { readonly check: string }[] => {
  const own = endpoints.filter(isOf);
  return [
    ...leftOut,
    ...(own.some(({ access }) => access.scheme === "pageMessaging") ? [ofPageMessaging] : []),
    ...(own.some(({ served }) => served?.contract.method === "POST") ? [ofBodies] : []),
  ];
};

const documents: readonly Fuzzed[] = [
  { title: "the whole", query: "", token: "demo-page-token", leftOut: leftOutOf(() => true) },
  ...surfaces.map(({ name }) => ({
    title: `the surface ${name}`,
    query: `?surface=${name}`,
    token: name === "microblog" ? "demo-microblog-token" : "demo-user-token",
    leftOut: leftOutOf(({ access }) => access.surfaces.includes(name)),
  })),
  ...types.map((type) => {
    const [id, token = "demo-user-token"] = demoNodes[type] ?? [];
    const own = leftOutOf(({ nodeType }) => nodeType === type);
    return { title: `the node type ${type}`, query: `?type=${type}`, token, ...(id === undefined ? {} : { id }), leftOut: [...own, ofOneType] };
  }),
];

/** In TOML, whose texts are written as JSON's. */
function configuration({ token, id }: Fuzzed): string {
  const text = JSON.stringify(token);
  // D-15: nobody checks that of an app token.
  const proof = createHmac("sha256", "demo-app-secret").update(token).digest("hex");
  const parameters = [...(id === undefined ? [] : [`"path.id" = ${JSON.stringify(id)}`]), `"query.appsecret_proof" = "${proof}"`];
  const places = ["access_token", "oauth_token"].map((name) => `[auth.openapi.${name}]\napi_key = ${text}`);
  return [`parameters = { ${parameters.join(", ")} }`, ...places, `[auth.openapi.bearer]\nbearer = ${text}`, ""].join("\n");
}

for (const document of documents) {
  test(
    `Schemathesis finds no fault with ${document.title}`,
    async () => {
      const server = await startServer(["--data", ":memory:"]);
      const folder = temporaryFolder();
      const config = join(folder, "schemathesis.toml");
      writeFileSync(config, configuration(document));
      const excluded = document.leftOut.map(({ check }) => check).join(",");
      const options = ["--checks", "all", "--exclude-checks", excluded, "--max-examples", String(EXAMPLES), "--continue-on-failure", "--no-color"];
      const address = `${server.base_url}/openapi.json${document.query}`;
      const child = Bun.spawn([PROGRAM, "--config-file", config, "run", address, ...options, "--suppress-health-check", "all"], {
        cwd: folder,
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      const exitCode = await child.exited;
      expect({ exitCode, said: exitCode === 0 ? "" : `${stdout}${stderr}` }).toEqual({ exitCode: 0, said: "" });
      expect(stdout).toMatch(/\d+ generated, \d+ passed/);
    },
    TIMEOUT_MS,
  );
}
