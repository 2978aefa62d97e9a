/** What others generate from the documents of a running server, and what is done with it. */
import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startServer, temporaryFolder } from "#harness/server";
import { registry } from "./documents.ts";

const ROOT = join(import.meta.dir, "../..");
const PYTHON = join(ROOT, ".tools/openapi/bin");
const TIMEOUT_MS = 900_000;

/** The whole of the graph, and one node type each, which is what the documents offer to generators. */
const types = [...new Set(registry.endpoints.flatMap(({ nodeType }) => nodeType ?? []))];

interface Written {
  readonly type: string;
  readonly file: string;
}

/** Starts a server and writes its documents into a folder. */
async function writtenDocuments(): Promise<{ folder: string; base: string; whole: Written; ofTypes: Written[] }> {
  const { base_url: base } = await startServer(["--data", ":memory:"]);
  const folder = temporaryFolder();
  const write = async (type: string, query: string): Promise<Written> => {
    const file = join(folder, `${type}.json`);
    writeFileSync(file, await (await fetch(`${base}/openapi.json${query}`)).text());
    return { type, file };
  };
  const ofTypes = await Promise.all(types.map((type) => write(type, `?type=${type}`)));
  return { folder, base, whole: await write("whole", ""), ofTypes };
}

/** What a program prints. It must end well. */
async function run(command: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, PATH: `${PYTHON}:${process.env.PATH}` };
  const child = Bun.spawn([...command], { cwd, env, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const exitCode = await child.exited;
  expect({ command: command.join(" "), exitCode, said: exitCode === 0 ? "" : stdout + stderr }).toMatchObject({ exitCode: 0, said: "" });
  return stdout.trim();
}

const generatePython = ({ file }: Written, folder: string, into: string): Promise<string> =>
  // With `ruff`, as its users have it: what it generated is parsed once more.
  run(["openapi-python-client", "generate", "--path", file, "--output-path", join(folder, into), "--meta", "none", "--fail-on-warning"], folder);

const generateTypes = ({ file }: Written, folder: string, into: string): Promise<string> =>
  run(["node", join(ROOT, "node_modules/openapi-typescript/bin/cli.js"), file, "--output", join(folder, into)], folder);

const token = "demo-page-token";

test(
  "openapi-typescript generates from every document, and a label is made with its types",
  async () => {
    const { folder, base, whole, ofTypes } = await writtenDocuments();
    for (const one of [whole, ...ofTypes]) await generateTypes(one, folder, `${one.type}.ts`);
    writeFileSync(
      join(folder, "make-label.ts"),
      `import type { operations } from "./page.ts";
      type CreateLabel = operations["createLabel"];
      const body: NonNullable<CreateLabel["requestBody"]>["content"]["application/json"] = { page_label_name: "from TypeScript" };
      const path: CreateLabel["parameters"]["path"] = { version: "v26.0", id: "2001" };
      const response = await fetch(\`${base}/\${path.version}/\${path.id}/custom_labels?access_token=${token}&oauth_token=${token}\`, {
        method: "POST",
        headers: { authorization: "Bearer ${token}", "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const made = (await response.json()) as CreateLabel["responses"]["200"]["content"]["application/json"];
      console.log(response.status, made.id.length > 0, made.name);`,
    );
    const options = [
      "--strict",
      "--noEmit",
      "--target",
      "es2022",
      "--module",
      "esnext",
      "--lib",
      "es2022,dom",
      "--types",
      "",
      "--moduleResolution",
      "bundler",
    ];
    const files = [...types, "whole", "make-label"].map((name) => `${name}.ts`);
    await run(["node", join(ROOT, "node_modules/typescript-native/bin/tsc"), ...options, "--allowImportingTsExtensions", ...files], folder);
    expect(await run([process.execPath, "make-label.ts"], folder)).toBe("200 true from TypeScript");
  },
  TIMEOUT_MS,
);

test(
  "openapi-python-client generates from every document without a warning, and a label is made with its client",
  async () => {
    const { folder, base, whole, ofTypes } = await writtenDocuments();
    for (const one of [whole, ...ofTypes]) await generatePython(one, folder, `client_${one.type}`);
    writeFileSync(
      join(folder, "make_label.py"),
      `from client_page.client import AuthenticatedClient
from client_page.api.page import create_label
from client_page.models.create_label_request import CreateLabelRequest
from client_page.models.create_label_version import CreateLabelVersion
places = {"access_token": "${token}", "oauth_token": "${token}"}
client = AuthenticatedClient(base_url="${base}", token="${token}", httpx_args={"params": places})
response = create_label.sync_detailed(CreateLabelVersion.V26_0, "2001", client=client, body=CreateLabelRequest(page_label_name="from Python"))
print(response.status_code, len(response.parsed.id) > 0, response.parsed.name)
`,
    );
    expect(await run(["python", "make_label.py"], folder)).toBe("200 True from Python");
  },
  TIMEOUT_MS,
);

test(
  "openapi-generator generates from the document of every node type",
  async () => {
    const { folder, ofTypes } = await writtenDocuments();
    expect(ofTypes.length).toBeGreaterThan(20);
    for (const { type, file } of ofTypes) {
      const into = join(folder, `generated_${type}`);
      await run(["openapi-generator-cli", "generate", "--input-spec", file, "--generator-name", "typescript-fetch", "--output", into], folder);
      expect(readdirSync(join(into, "apis")).length).toBeGreaterThan(0);
    }
  },
  TIMEOUT_MS,
);
