import { afterEach, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { otherNameCertificate, otherNameKey, receiverCertificate, receiverKey, renewedCertificate, renewedKey } from "#harness/certificates";
import { mcpOverHttp } from "#harness/cli/mcp";
import { sharedPostgres } from "#harness/postgres-cluster";
import { endAll, newFolder, runPlaza, spawnPlaza, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

function filesOf(cert: string, key: string): { cert: string; key: string; write(cert: string, key: string): void } {
  const folder = newFolder();
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const write = (cert: string, key: string): void => {
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
  };
  write(cert, key);
  return { ...files, write };
}

/** The host name in the certificate that a listener uses at present. */
const nameAt = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once("error", reject);
  });

const get = (url: string, key: string) => fetch(url, { headers: { authorization: `Bearer ${key}` }, tls: { ca: renewedCertificate } });

test("graph and control API are served over TLS, and use a renewed certificate", async () => {
  const files = filesOf(receiverCertificate, receiverKey);
  const plaza = await startPlaza(["--data", ":memory:", "--tls-cert", files.cert, "--tls-key", files.key]);
  const { base_url, control_url, control_key = "" } = plaza.ready;
  expect([base_url, control_url]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^https:/)]);
  files.write(renewedCertificate, renewedKey);
  while ((await nameAt(control_url)) !== "renewed.example") await Bun.sleep(100);
  expect(await nameAt(base_url)).toBe("renewed.example");

  const page = `${base_url}/v26.0/2001/custom_labels?access_token=demo-page-token&oauth_token=demo-page-token`;
  const labels = (await (await get(page, "demo-page-token")).json()) as { data: unknown[] };
  expect(labels.data.length).toBeGreaterThan(0);
  const nodes = (await (await get(`${control_url}/v1/worlds/default/tokens?limit=1`, control_key)).json()) as { paging: { next: string } };
  expect(nodes.paging.next).toStartWith(`${control_url}/v1/`);
  const document = (await (await get(`${control_url}/v1/openapi.json`, control_key)).json()) as { servers: { url: string }[] };
  expect(document.servers).toEqual([{ url: control_url }]);

  // A command trusts the certificates that NODE_EXTRA_CA_CERTS names.
  const env = { PLAZA_CONTROL_URL: control_url, PLAZA_CONTROL_KEY: control_key };
  expect(await runPlaza(["token", "list"], { env })).toMatchObject({ code: 2 });
  expect(await runPlaza(["token", "list"], { env: { ...env, NODE_EXTRA_CA_CERTS: files.cert } })).toMatchObject({ code: 0, stderr: "" });
  expect((await plaza.end()).code).toBe(0);
});

test("a command that finds the server by its folder accepts a certificate with any name, of a trusted authority", async () => {
  const files = filesOf(otherNameCertificate, otherNameKey);
  const data = newFolder();
  const plaza = await startPlaza(["--data", data, "--tls-cert", files.cert, "--tls-key", files.key]);
  const env = { NODE_EXTRA_CA_CERTS: files.cert };
  for (const command of [
    ["token", "list"],
    ["trigger", "page.custom_labels"],
  ]) {
    expect(await runPlaza([...command, "--data", data])).toMatchObject({ code: 2, stderr: expect.stringContaining("could not be reached") });
    expect(await runPlaza([...command, "--data", data, "--control-url", plaza.ready.control_url], { env })).toMatchObject({ code: 2 });
    expect(await runPlaza([...command, "--data", data], { env })).not.toMatchObject({ code: 2 });
  }
  expect((await plaza.end()).code).toBe(0);
});

test("plaza record accepts requests for a server over TLS, and uses only TLS with a trusted certificate itself", async () => {
  const files = filesOf(renewedCertificate, renewedKey);
  const plaza = await startPlaza(["--data", ":memory:", "--tls-cert", files.cert, "--tls-key", files.key]);
  const statusThrough = async (env: Record<string, string>) => {
    const recording = spawnPlaza(["record", "--upstream", plaza.ready.base_url, "--out", join(newFolder(), "calls.har")], { env });
    const line = new TextDecoder().decode((await recording.stdout.getReader().read()).value);
    const response = await fetch(`${/http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]}/openapi.json`);
    recording.kill("SIGINT");
    expect(await recording.exited).toBe(0);
    return response.status;
  };
  expect(await statusThrough({ NODE_EXTRA_CA_CERTS: files.cert })).toBe(200);
  expect(await statusThrough({})).toBe(502);
});

test("several processes serve one port over TLS, and all of them use a renewed certificate", async () => {
  const files = filesOf(receiverCertificate, receiverKey);
  const data = await (await sharedPostgres()).newDatabase();
  const plaza = await startPlaza(["--data", data, "--workers", "2", "--tls-cert", files.cert, "--tls-key", files.key]);
  const names = async () => Promise.all(Array.from({ length: 20 }, () => nameAt(plaza.ready.base_url)));
  expect(new Set(await names())).toEqual(new Set(["receiver.example"]));
  files.write(renewedCertificate, renewedKey);
  while ((await names()).includes("receiver.example")) await Bun.sleep(100);
  expect((await plaza.end()).code).toBe(0);
});

test("a large file is sent to the control API, and the folder of its socket is removed", async () => {
  const files = filesOf(renewedCertificate, renewedKey);
  const env = { TMPDIR: newFolder() };
  const plaza = await startPlaza(["--data", ":memory:", "--tls-cert", files.cert, "--tls-key", files.key], { env });
  const { control_url, control_key = "" } = plaza.ready;
  const users = Array.from({ length: 4_000 }, (_, index) => ({ id: String(900_000 + index), name: `${index} ${"x".repeat(500)}` }));
  const imported = await fetch(`${control_url}/v1/worlds/default/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${control_key}` },
    body: JSON.stringify({ users }),
    tls: { ca: renewedCertificate },
  });
  expect(await imported.json()).toEqual({ success: true });
  const exported = await get(`${control_url}/v1/worlds/default/export`, control_key);
  expect(((await exported.json()) as { users: unknown[] }).users.length).toBeGreaterThanOrEqual(4_000);
  expect(readdirSync(env.TMPDIR)).toHaveLength(1);
  await plaza.end();
  expect(readdirSync(env.TMPDIR)).toEqual([]);
});

test("unusable files are named, with exit code 2", async () => {
  const files = filesOf(renewedCertificate, receiverKey);
  const start = (args: readonly string[]) => runPlaza(["start", "--data", ":memory:", "--port", "0", "--control-port", "0", ...args]);
  for (const [args, message] of [
    [["--tls-cert", files.cert], "--tls-cert: requires --tls-key FILE"],
    [["--tls-key", files.key], "--tls-key: requires --tls-cert FILE"],
    [["--tls-cert", files.cert, "--tls-key", files.key], `--tls-key: ${files.key} is not the key of the certificate in ${files.cert}`],
    [["--tls-cert", files.key, "--tls-key", files.key], `--tls-cert: ${files.key} contains no certificate in PEM`],
    [["--tls-cert", "/no/such/file", "--tls-key", files.key], "--tls-cert: ENOENT"],
  ] as const) {
    const ended = await start(args);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toStartWith(`plaza: ${message}`);
  }
});

test("the tool send_request of MCP reaches a graph over TLS, in the world of the connection", async () => {
  const files = filesOf(otherNameCertificate, otherNameKey);
  const { ready } = await startPlaza(["--data", ":memory:", "--tls-cert", files.cert, "--tls-key", files.key]);
  const { control_url, control_key = "" } = ready;
  const headers = { authorization: `Bearer ${control_key}`, "content-type": "application/json" };
  const trusting = { tls: { rejectUnauthorized: false } };
  const pages = [{ id: "2002", name: "Bar", roles: [{ user: "3001", tasks: ["MESSAGING"] }] }];
  const tokens = [{ token: "bar-token", type: "page", app: "1001", page: "2002", user: "3001", scopes: ["pages_messaging"] }];
  const labels = [{ id: "5001", page: "2002", name: "only here" }];
  const file = JSON.stringify({ apps: [{ id: "1001", name: "Shop", secret: "s" }], users: [{ id: "3001", name: "Ada" }], pages, tokens, labels });
  const body = JSON.stringify({ name: "bar", file });
  expect(await fetch(`${control_url}/v1/worlds`, { method: "POST", headers, body, ...trusting })).toMatchObject({ status: 201 });
  const send = (url: string | URL, init?: RequestInit) => fetch(url, { ...init, ...trusting });
  const { call } = await mcpOverHttp(`${control_url}/mcp?world=bar`, control_key, { send });
  const answer = await call("send_request", { method: "GET", path: "2002/custom_labels", as: "Bar" });
  expect(answer).toEqual({ text: expect.stringMatching(/^200 [\s\S]*only here/), isError: false });
  expect(await call("send_request", { method: "GET", path: "2001/custom_labels", as: "Bar" })).toMatchObject({ text: expect.stringMatching(/^40/) });
});
