/** Runs code generators of other projects on every document of a running server, and uses the generated code. */
import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Server, startServer, temporaryFolder } from "#harness/server";
import { surfaces } from "#surfaces/surfaces";
import { registry } from "./documents.ts";

const ROOT = join(import.meta.dir, "../..");
const PYTHON = join(ROOT, ".tools/openapi/bin");
const TIMEOUT_MS = 1_800_000;

const types = [...new Set(registry.endpoints.flatMap(({ nodeType }) => nodeType ?? []))];

interface Written {
  readonly name: string;
  readonly file: string;
}

/**
 * Starts a server, and writes its documents into a folder: the document of the whole graph, those of its APIs and node types, and the control API's.
 */
async function writtenDocuments(): Promise<{ folder: string; server: Server; documents: Written[] }> {
  const server = await startServer(["--data", ":memory:"]);
  const { base_url: base, control_url } = server;
  const folder = temporaryFolder();
  const write = async (name: string, address: string): Promise<Written> => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, await (await fetch(address)).text());
    return { name, file };
  };
  const documents = await Promise.all([
    write("whole", `${base}/openapi.json`),
    ...types.map((type) => write(type, `${base}/openapi.json?type=${type}`)),
    ...surfaces.map(({ name }) => write(`surface_${name}`, `${base}/openapi.json?surface=${name}`)),
    write("control", `${control_url}/v1/openapi.json`),
  ]);
  return { folder, server, documents };
}

interface Said {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program, which must exit with 0, and returns its output. */
async function run(command: readonly string[], cwd: string): Promise<Said> {
  const env = { ...process.env, PATH: `${PYTHON}:${process.env.PATH}` };
  const child = Bun.spawn([...command], { cwd, env, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const exitCode = await child.exited;
  expect({ command: command.join(" "), exitCode, said: exitCode === 0 ? "" : stdout + stderr }).toMatchObject({ exitCode: 0, said: "" });
  return { stdout: stdout.trim(), stderr };
}

/** Media types that the generator does not support: it leaves out a response of such a type, or uses JSON for such a request body. */
const leftOutOfPython: Readonly<Record<string, readonly string[]>> = {
  control: ["Unsupported content type application/yaml", "Unsupported content_type application/x-ndjson"],
};

async function generatePython({ name, file }: Written, folder: string): Promise<void> {
  // `ruff`, which users of the generator have too, parses the generated code once more.
  const options = ["--output-path", join(folder, `client_${name}`), "--meta", "none"];
  const { stderr } = await run(["openapi-python-client", "generate", "--path", file, ...options], folder);
  const reasons = [...stderr.matchAll(/^WARNING .*\s+(.*)$/gm)].map(([, reason = ""]) => reason);
  const left = leftOutOfPython[name] ?? [];
  expect({ name, reasons, count: reasons.length }).toEqual({
    name,
    reasons: left.map((reason) => expect.stringContaining(reason)),
    count: left.length,
  });
}

const generateTypes = ({ name, file }: Written, folder: string): Promise<Said> =>
  run(["node", join(ROOT, "node_modules/openapi-typescript/bin/cli.js"), file, "--output", join(folder, `${name}.ts`)], folder);

const token = "demo-page-token";

test(
  "openapi-typescript generates from every document, and a label is made with its types",
  async () => {
    const { folder, server, documents } = await writtenDocuments();
    for (const one of documents) await generateTypes(one, folder);
    writeFileSync(
      join(folder, "make-label.ts"),
      `import type { operations } from "./page.ts";
      import type { operations as control } from "./control.ts";
      type CreateLabel = operations["createLabel"];
      const body: NonNullable<CreateLabel["requestBody"]>["content"]["application/json"] = { page_label_name: "from TypeScript" };
      const path: CreateLabel["parameters"]["path"] = { version: "v26.0", id: "2001" };
      const response = await fetch(\`${server.base_url}/\${path.version}/\${path.id}/custom_labels?access_token=${token}&oauth_token=${token}\`, {
        method: "POST",
        headers: { authorization: "Bearer ${token}", "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const made = (await response.json()) as CreateLabel["responses"]["200"]["content"]["application/json"];
      const headers = { authorization: "Bearer ${server.control_key}" };
      const read = await fetch(\`${server.control_url}/v1/worlds/default/nodes/labels/\${made.id}\`, { headers });
      const node = (await read.json()) as control["readNode_labels"]["responses"]["200"]["content"]["application/json"];
      console.log(response.status, made.name, node.id === made.id, node.page);`,
    );
    const options = ["--strict", "--noEmit", "--target", "es2022", "--module", "esnext", "--lib", "es2022,dom", "--types", ""];
    const files = [...documents.map(({ name }) => name), "make-label"].map((name) => `${name}.ts`);
    const compiler = ["node", join(ROOT, "node_modules/typescript-native/bin/tsc"), "--moduleResolution", "bundler", "--allowImportingTsExtensions"];
    await run([...compiler, ...options, ...files], folder);
    expect((await run([process.execPath, "make-label.ts"], folder)).stdout).toBe("200 from TypeScript true 2001");
  },
  TIMEOUT_MS,
);

test(
  "openapi-python-client generates from every document, and a label is made with its clients",
  async () => {
    const { folder, server, documents } = await writtenDocuments();
    for (const one of documents) await generatePython(one, folder);
    writeFileSync(
      join(folder, "make_label.py"),
      `from client_page.client import AuthenticatedClient
from client_page.api.page import create_label
from client_page.models.create_label_request import CreateLabelRequest
from client_page.models.create_label_version import CreateLabelVersion
from client_control.client import AuthenticatedClient as ControlClient
from client_control.api.nodes import read_node_labels
places = {"access_token": "${token}", "oauth_token": "${token}"}
client = AuthenticatedClient(base_url="${server.base_url}", token="${token}", httpx_args={"params": places})
response = create_label.sync_detailed(CreateLabelVersion.V26_0, "2001", client=client, body=CreateLabelRequest(page_label_name="from Python"))
control = ControlClient(base_url="${server.control_url}", token="${server.control_key}")
node = read_node_labels.sync("default", response.parsed.id, client=control)
print(response.status_code, response.parsed.name, node.id == response.parsed.id, node.page)
`,
    );
    expect((await run(["python", "make_label.py"], folder)).stdout).toBe("200 from Python True 2001");
  },
  TIMEOUT_MS,
);

test(
  "openapi-generator generates clients from every document",
  async () => {
    const { folder, documents } = await writtenDocuments();
    expect(documents.length).toBeGreaterThan(20);
    for (const { name, file } of documents) {
      const into = join(folder, `generated_${name}`);
      await run(["openapi-generator-cli", "generate", "--input-spec", file, "--generator-name", "typescript-fetch", "--output", into], folder);
      expect(readdirSync(join(into, "apis")).length).toBeGreaterThan(0);
    }
  },
  TIMEOUT_MS,
);
