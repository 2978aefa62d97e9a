/** `plaza mcp`: the protocol on standard input and output, for clients that start the command. */
import { expect, test } from "bun:test";
import { mcpOverStdio } from "#harness/cli/mcp";
import { startServer, temporaryFolder } from "#harness/server";

test("the command serves tools before a server runs, says how to start one, and finds it when it runs", async () => {
  const folder = temporaryFolder();
  const { call, client } = await mcpOverStdio(folder);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("send_request");
  // The client can read the contract and the guides without a running server.
  expect((await call("find_operation", { query: "createLabel" })).text).toContain("page_label_name");
  expect(await call("status")).toEqual({
    text: "no server runs on the data of this folder: start one with plaza start, in the background, and call the tool again",
    isError: true,
  });
  const server = await startServer(["--sandbox", "--data", `${folder}/.plaza`]);
  expect((await call("status")).text).toContain(server.base_url);
  const made = await call("send_request", { method: "POST", path: "2001/custom_labels", as: "2001", parameters: { page_label_name: "by stdio" } });
  expect(made).toEqual({ text: expect.stringContaining('200 {"id":'), isError: false });
  await server.stop();
  expect((await call("status")).isError).toBe(true);
});

test("a server that cannot be reached is named, with what to do", async () => {
  const { call } = await mcpOverStdio(temporaryFolder(), { PLAZA_CONTROL_URL: "http://127.0.0.1:9", PLAZA_CONTROL_KEY: "key" });
  expect(await call("clock", { action: "show" })).toEqual({
    text: "--control-url: no server listens at http://127.0.0.1:9; plaza start starts a server",
    isError: true,
  });
});
