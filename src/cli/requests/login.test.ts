/** Runs `plaza login` with a real server. */
import { expect, test } from "bun:test";
import { commandLine } from "#harness/cli/command-line";
import { written } from "#harness/cli/printed";
import { startServer, worldFile } from "#harness/server";

const world = {
  apps: [{ id: "1001", name: "Shop", secret: "s3cret" }],
  users: [
    { id: "3001", name: "Ada" },
    { id: "3002", name: "Twin" },
    { id: "3003", name: "Twin" },
  ],
  social_accounts: [{ id: "5001", username: "cafe" }],
};

async function open(options: string[] = ["--sandbox"]) {
  const server = await startServer(["--data", ":memory:", "--world", worldFile(world), ...options], { PLAZA_CONTROL_KEY: "k".repeat(32) });
  const streams = written();
  const run = async (...words: string[]) => {
    Object.assign(streams, { out: "", err: "" });
    const code = await commandLine(...words, "--control-url", server.control_url, "--control-key", "k".repeat(32));
    return { code, ...streams };
  };
  return { run, server };
}

test("D-388: plaza login prints a token alone, or as JSON with its permissions", async () => {
  const { run, server } = await open();
  const { code, out, err } = await run("login", "--as", "Ada");
  expect({ code, out, err }).toEqual({ code: 0, out: expect.stringMatching(/^PLZ[\w-]{43}\n$/), err: "" });
  const me = await fetch(`${server.base_url}/v26.0/me`, { headers: { authorization: `Bearer ${out.trim()}` } });
  expect(await me.json()).toEqual({ id: "3001", name: "Ada" });
  const json = JSON.parse((await run("login", "--as", "3001", "--app", "Shop", "--scope", "email,pages_show_list", "--json")).out);
  expect(json).toMatchObject({ app: "1001", user: "3001", scopes: expect.arrayContaining(["email", "pages_show_list"]) });
  expect(JSON.parse((await run("login", "--as", "cafe", "--json")).out)).toMatchObject({ social_account: "5001" });
});

test("D-388: plaza login names the option that is wrong", async () => {
  const { run } = await open();
  expect(await run("login", "--as", "Nobody")).toMatchObject({ code: 2, err: expect.stringContaining("--as: no person or social account") });
  expect(await run("login", "--as", "Twin")).toMatchObject({ code: 2, err: expect.stringContaining("3002, 3003") });
  expect(await run("login", "--as", "Ada", "--app", "Other")).toMatchObject({ code: 2, err: expect.stringContaining("--app: no app") });
  expect(await run("login", "--as", "Ada", "--scope", "A")).toMatchObject({ code: 1, out: "" });
  await run("node", "make", "apps", "--set", "name=Second");
  expect(await run("login", "--as", "Ada")).toMatchObject({ code: 2, err: expect.stringContaining("--app: is required") });
});

test("D-388: nobody logs in so without a sandbox", async () => {
  const { run } = await open(["--no-sandbox"]);
  const refused = await run("login", "--as", "Ada");
  expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("only in a sandbox") });
});
