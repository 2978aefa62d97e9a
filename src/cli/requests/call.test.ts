/** Runs `plaza call`, `plaza explain` and `plaza clock next` with a real server. */
import { expect, test } from "bun:test";
import { commandLine } from "#harness/cli/command-line";
import { written } from "#harness/cli/printed";
import { startServer } from "#harness/server";

async function demo(...options: string[]) {
  const server = await startServer(["--data", ":memory:", "--sandbox", ...options], { PLAZA_CONTROL_KEY: "key" });
  const streams = written();
  const run = async (...words: string[]) => {
    Object.assign(streams, { out: "", err: "" });
    const code = await commandLine(...words, "--control-url", server.control_url, "--control-key", "key");
    return { code, ...streams };
  };
  return { run, server };
}

test("a request is sent as a page that is named, in the places that the operation needs", async () => {
  const { run } = await demo();
  const pages = (await run("node", "list", "pages")).out
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const [{ id, name }] = pages;
  const made = await run("call", "post", `/v26.0/${id}/custom_labels`, "--as", name, "--field", "page_label_name=called");
  expect({ ...made, out: JSON.parse(made.out) }).toEqual({ code: 0, out: { id: expect.any(String), name: "called" }, err: "" });
  const { id: label } = JSON.parse(made.out);
  const read = await run("call", "GET", `${label}?fields=page_label_name`, "--as", id, "--include");
  expect(read.out).toStartWith("200\n");
  expect(read.out).toContain('"page_label_name": "called"');
  expect(read.out).not.toContain("__debug__");
  const body = await run("call", "POST", `${id}/custom_labels`, "--as", id, "--body", '{"page_label_name":"second"}');
  expect(body.code).toBe(0);
  const value = (
    await run("token", "mint", "--type", "app", "--app", JSON.parse((await run("node", "list", "apps")).out.split("\n")[0] as string).id)
  ).out;
  expect((await run("call", "GET", `${id}/custom_labels`, "--as", JSON.parse(value).token)).code).toBe(1);
});

test("a refusal is explained, at once and later by its trace", async () => {
  const { run } = await demo();
  const { id } = JSON.parse((await run("node", "list", "pages")).out.split("\n")[0] as string);
  const refused = await run("call", "GET", `/v26.0/${id}/custom_labels`, "--as", "nobody-knows-me");
  expect(refused.code).toBe(1);
  const error = JSON.parse(refused.out);
  expect(refused.err).toStartWith(`GET /v26.0/${id}/custom_labels 403\n`);
  expect(refused.err).toContain(`refused     ${error.message}`);
  expect(refused.err).toMatch(/cause {7}\w+: /);
  const asApp = await run("call", "GET", `/v26.0/${id}/custom_labels`, "--as", "demo-app-token");
  expect(asApp.err).toContain("an app token (");
  const explained = await run("explain", error.pftrace_id);
  expect(explained.code).toBe(0);
  expect(explained.out.trim()).toBe(refused.err.trim());
  expect(JSON.parse((await run("explain", error.pftrace_id, "--json")).out).story.steps.length).toBeGreaterThan(0);
  expect(await run("explain", "unknown")).toEqual({ code: 1, out: "", err: "plaza: there is no request unknown among the last requests\n" });
});

test("a batch is explained by its parts, and the log says which of them was refused", async () => {
  const { run } = await demo();
  const tokens = "access_token=demo-page-token&oauth_token=demo-page-token";
  const paths = ["v26.0/2001/custom_labels", "v26.0/2001/custom_label"];
  const batch = JSON.stringify(paths.map((path) => ({ relative_url: `${path}?${tokens}` })));
  expect((await run("call", "POST", "/", "--as", "2001", "--field", `batch=${batch}`)).code).toBe(0);
  const reason = "Page 2001 has no edge custom_label; did you mean custom_labels?";
  const line = (await run("logs")).out.trimEnd();
  expect(line).toEndWith(`: 1 of 2 requests inside this request was refused, first GET /v26.0/2001/custom_label: ${reason}`);
  const [trace = ""] = /A\S+(?=: 1 of 2)/.exec(line) ?? [];
  const explained = (await run("explain", trace)).out;
  expect(explained).toContain("request     GET /v26.0/2001/custom_labels 200 listLabels\n");
  expect(explained).toContain(`request     GET /v26.0/2001/custom_label 400 unknown: ${reason}\n`);
});

test("wrong use is refused before anything is sent", async () => {
  const { run } = await demo();
  expect(await run("call", "GET", "me", "--field", "x")).toEqual({ code: 2, out: "", err: "plaza: --field: x is not NAME=VALUE\n" });
  expect((await run("call", "POST", "me", "--body", "{")).err).toBe("plaza: --body: is not JSON; @FILE reads a file, and --field sends a form\n");
});

test("the clock goes to what falls due first", async () => {
  // No server listens at this address, so the webhook to it is retried.
  const { run } = await demo("--callback", "http://127.0.0.1:1/");
  expect(await run("clock", "next")).toEqual({ code: 1, out: "", err: "plaza: the world has no further deadline\n" });
  const { id } = JSON.parse((await run("node", "list", "social_accounts")).out.split("\n")[0] as string);
  expect((await run("in-app", "message", "--social-account", id, "--text", "hi")).code).toBe(0);
  let first = "";
  while (first === "") [first = ""] = (await run("clock", "deadlines")).out.split("\n");
  const due = JSON.parse(first);
  const moved = JSON.parse((await run("clock", "next")).out);
  expect(moved).toMatchObject({ due: { kind: "webhook_retry", of: due.of } });
  expect(moved.now).toBeGreaterThanOrEqual(Math.floor(due.time));
});
