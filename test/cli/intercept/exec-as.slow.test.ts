import { afterEach, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { endAll, newFolder, runPlaza, startPlaza } from "../plaza-process.ts";

afterEach(endAll);

const PAGE = "https://graph.example.com/v26.0/2001?access_token=demo-page-token";
const BUN = join(import.meta.dir, "../../../node_modules/bun/bin/bun.exe");

/** A script that sends requests in the ways in which a program on Node can send them, and prints a line for each. */
const CLIENTS = `
import { get, request, Agent } from "node:https";
import { request as plain } from "node:http";
import { createRequire } from "node:module";
import { connect } from "node:tls";
import { Worker } from "node:worker_threads";
import { rootCertificates } from "node:tls";
const PEM = rootCertificates[0];
const url = process.argv[2];
const read = (response) => new Promise((resolve) => { let text = ""; response.on("data", (bytes) => (text += bytes)).on("end", () => resolve(text)); });
const sent = (send, ...given) => new Promise((resolve) => send(...given, (response) => resolve(read(response))).on("error", ({ message }) => resolve(message)).end());
const seen = {
  fetch: await (await fetch(url)).text(),
  get: await sent(get, url),
  agent: await sent(request, url, { agent: new Agent({ keepAlive: true, ca: PEM }) }),
  commonjs: await sent(createRequire(import.meta.url)("https").get, url),
  tls: await new Promise((resolve) => { const socket = connect(443, "graph.example.com", () => { socket.end(); resolve(socket.authorized); }); }),
  alpn: await new Promise((resolve) => { const socket = connect({ host: "graph.example.com", port: 443, ALPNProtocols: ["h2", "http/1.1"] }, () => { socket.end(); resolve(socket.alpnProtocol); }); }),
  worker: await new Promise((resolve) => new Worker("fetch(require('worker_threads').workerData).then((r) => r.text()).then((t) => require('worker_threads').parentPort.postMessage(t))", { eval: true, workerData: url }).on("message", resolve)),
  refused: await sent(get, "https://one.example.org/"),
  refusedFetch: await fetch("https://two.example.org/").catch(({ cause }) => cause.message),
  refusedHttp: await sent(plain, "http://three.example.org/"),
  refusedHttpFetch: await fetch("http://four.example.org/").catch(({ cause }) => cause.message),
  plain: await sent(plain, "http://graph.example.com/"),
  own: (await fetch(process.env.PLAZA_BASE_URL + "/healthz")).status,
};
console.log(JSON.stringify(seen));
`;

describe("plaza exec --as", () => {
  test("every way in which a program on Node sends requests reaches Plaza", async () => {
    const cwd = newFolder();
    await Bun.write(join(cwd, "clients.mjs"), CLIENTS);
    const run = await runPlaza(["exec", "--as", "graph.example.com", "--only", "--", "node", "clients.mjs", PAGE], { cwd });
    const page = '{"id":"2001","name":"Demo cafe"}';
    const refusal = (host: string) => `plaza: --only refuses ${host}, because --as does not name it`;
    expect({ code: run.code, seen: run.stdout === "" ? run.stderr : JSON.parse(run.stdout) }).toEqual({
      code: 0,
      seen: {
        ...{ fetch: page, get: page, agent: page, commonjs: page, worker: page, tls: true, alpn: "http/1.1" },
        refused: refusal("one.example.org"),
        refusedFetch: refusal("two.example.org"),
        refusedHttp: refusal("three.example.org"),
        refusedHttpFetch: refusal("four.example.org"),
        plain: "plaza: graph.example.com is served over https only",
        own: 200,
      },
    });
    const tried = ["one.example.org:443", "two.example.org:443", "three.example.org:80", "four.example.org:80"];
    for (const host of tried) expect(run.stderr).toContain(`  ${host}  once\n`);
  });

  test("a host has a surface and a world; links lead to the host; a program with Bun uses the proxy", async () => {
    const script = `
      const { PLAZA_CONTROL_URL: control, PLAZA_CONTROL_KEY: key } = process.env;
      const headers = { authorization: "Bearer " + key, "content-type": "application/json" };
      const file = { profile: "clients", apps: [{ id: "1001" }], pages: [{ id: "2001", name: "Second" }], labels: ["5001", "5002"].map((id) => ({ id, page: "2001", name: id })), tokens: [{ token: "t", type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] }] };
      const made = await fetch(control + "/v1/worlds", { method: "POST", headers, body: JSON.stringify({ name: "second", file }) });
      if (!made.ok) throw new Error(await made.text());
      const first = await (await fetch("https://graph.example.com/v26.0/2001/custom_labels?limit=1&access_token=t")).json();
      const next = await (await fetch(first.paging.next)).json();
      await fetch("https://graph.example.com/v26.0/2001/insights?access_token=t");
      const ads = await (await fetch("https://ads.example.com/v26.0/nothing?access_token=t")).json();
      console.log(JSON.stringify([first.data.length, new URL(first.paging.next).origin, next.data.length, ads.error.code]));`;
    const hosts = ["--as", "graph.example.com=base/second", "--as", "ads.example.com=ads"];
    expect(await runPlaza(["exec", ...hosts, "--", BUN, "-e", script])).toEqual({
      code: 0,
      stdout: `${JSON.stringify([1, "https://graph.example.com", 1, 2500])}\n`,
      // D-394: the report also names the requests to the world `second`.
      stderr:
        "plaza: the command asked for 2 things that Plaza does not have:\n  GET nothing, once\n  GET page/insights, once, by app 1001\nplaza: to answer requests to this edge from a file, use --stub page/insights=FILE.json\n",
    });
  });

  test("D-395: a file answers an edge that Plaza does not serve", async () => {
    const cwd = newFolder();
    await Bun.write(join(cwd, "insights.json"), '{"data": []}');
    const [url, script] = [PAGE.replace("2001", "2001/insights"), "fetch(process.argv[1]).then((response) => response.text()).then(console.log)"];
    const run = (...stub: string[]) => runPlaza(["exec", "--as", "graph.example.com", ...stub, "--", "node", "-e", script, url], { cwd });
    expect(await run("--stub", "page/insights=insights.json")).toEqual({ code: 0, stdout: '{"data":[]}\n', stderr: "" });
    const refused = await run("--stub", "page/insights=other.json");
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("plaza: --stub: other.json cannot be read: ENOENT") });
  });

  test("other hosts are reached through the proxy that was set already", async () => {
    const asked: string[] = [];
    const upstream = createServer().on("connect", (request, socket) => {
      asked.push(request.url ?? "");
      socket.end("HTTP/1.1 418 Seen\r\n\r\n");
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    afterThisTest(() => upstream.close());
    const env = { HTTPS_PROXY: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, NO_PROXY: "graph.example.com" };
    const script = `console.log(await (await fetch("${PAGE}")).text(), await fetch("https://example.org/").catch((error) => error.code));`;
    const { code, stdout } = await runPlaza(["exec", "--as", "graph.example.com", "--", BUN, "-e", script], { env });
    expect(code).toBe(0);
    expect(stdout).toStartWith('{"id":"2001","name":"Demo cafe"}');
    expect(asked).toEqual(["example.org:443"]);
  });

  test("wrong options are refused before anything starts", async () => {
    const refusal = async (...args: string[]) => {
      const { code, stderr } = await runPlaza(args);
      return [code, stderr];
    };
    expect(await refusal("exec", "--only", "--", "true")).toEqual([
      2,
      "plaza: --only: refuses all hosts that --as does not name; add --as with the host that your program calls\n",
    ]);
    expect(await refusal("exec", "--as", "https://graph.example.com", "--", "true")).toEqual([
      2,
      "plaza: --as: https://graph.example.com does not begin with a host name of the internet; write graph.example.com or ads.example.com=ads\n",
    ]);
    expect(await refusal("intercept")).toEqual([2, expect.stringContaining("required option '--as <HOST[=SURFACE[/WORLD]]>' not specified")]);
  });
});

describe("plaza intercept", () => {
  test("starts a server whose variables a shell reads, and removes its files at the end", async () => {
    const plaza = await startPlaza(["--as", "graph.example.com", "--data", ":memory:"], {}, "intercept");
    const file = String(plaza.ready.variables_file);
    const shell = Bun.spawn(
      [
        "sh",
        "-c",
        `. ${file}; exec node -e "const read = (url) => fetch(url).then((r) => r.text()); read('${PAGE}').then(console.log); read('${PAGE.replace("2001", "2001/insights")}')"`,
      ],
      {
        env: { PATH: process.env.PATH ?? "" },
        stdout: "pipe",
      },
    );
    expect(await new Response(shell.stdout).text()).toBe('{"id":"2001","name":"Demo cafe"}\n');
    const { code, stderr } = await plaza.end();
    expect(code).toBe(0);
    // A line of the server's log can come between two lines of the report.
    const report = stderr.split("\n").filter((line) => !line.startsWith("{"));
    expect(report.join("\n")).toContain("plaza: the command asked for 1 thing that Plaza does not have:\n  GET page/insights, once, by app 1001\n");
    expect(await Bun.file(file).exists()).toBeFalse();
  });
});
