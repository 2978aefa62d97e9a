import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, PROGRAM, runPlaza, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

describe("plaza token", () => {
  test("creates the first app and its token on unused data, and the server then accepts it", async () => {
    const data = newFolder();
    const app = await runPlaza(["token", "create-app", "--data", data, "--name", "First", "--id", "1001"]);
    expect(app.code).toBe(0);
    expect(JSON.parse(app.stdout)).toMatchObject({ id: "1001", name: "First", secret: expect.any(String) });
    const minted = await runPlaza([
      "token",
      "mint",
      "--data",
      data,
      "--type",
      "app",
      "--app",
      "1001",
      "--scopes",
      "a,b",
      "--expires-at",
      "2030-01-01",
    ]);
    expect(JSON.parse(minted.stdout)).toMatchObject({ token: expect.any(String), scopes: ["a", "b"], expires_at: 1_893_456_000 });
    const plaza = await startPlaza(["--data", data]);
    // The data contained a world already, so the server did not add the demo world.
    expect((await plaza.control("GET", "nodes/apps")).body.data).toHaveLength(1);
    expect((await plaza.control("GET", "tokens")).body.data).toMatchObject([{ type: "app", app: "1001" }]);
  });

  test("asks a running server: mint, list, revoke", async () => {
    const plaza = await startPlaza(["--data", ":memory:"]);
    const env = { PLAZA_CONTROL_URL: plaza.ready.control_url, PLAZA_CONTROL_KEY: plaza.ready.control_key as string };
    const minted = await runPlaza(["token", "mint", "--type", "page", "--app", "1001", "--page", "2001", "--scopes", "pages_messaging"], { env });
    expect(minted).toMatchObject({ code: 0, stderr: "" });
    const { token, id } = JSON.parse(minted.stdout) as { token: string; id: string };
    expect((await plaza.page("personas", token)).status).toBe(200);
    const listed = await runPlaza(["token", "list", "--control-url", plaza.ready.control_url, "--control-key", env.PLAZA_CONTROL_KEY]);
    expect(
      listed.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toContain(id);
    expect(listed.stdout).not.toContain(token);
    expect((await runPlaza(["token", "revoke", "--id", id], { env })).code).toBe(0);
    expect((await plaza.page("personas", token)).status).toBe(403);
  });

  test("lists nothing without data, and creates no folder", async () => {
    const cwd = newFolder();
    for (const command of [["list"], ["revoke", "--id", "1"], ["mint", "--type", "app", "--app", "1001"]]) {
      const refused = await runPlaza(["token", ...command, "--data", "nowhere"], { cwd });
      expect(refused).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(/^plaza: --data: there is no data in nowhere; [^\n]+\n$/) });
    }
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("finds the running server by its address and key in the data folder, readable only by its owner", async () => {
    const cwd = newFolder();
    const plaza = await startPlaza([], { cwd });
    const files = ["control.key", "server.json"].map((name) => join(cwd, ".plaza", name));
    for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(files[0] as string, "utf8")).toBe(`${plaza.ready.control_key}\n`);
    for (const [args, options] of [
      [[], { cwd }],
      [["--data", join(cwd, ".plaza")], {}],
    ] as const)
      expect(await runPlaza(["token", "list", ...args], options)).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("1001") });
    await plaza.end();
    expect(existsSync(files[1] as string)).toBeFalse();
    // If no server runs, the command starts one for itself.
    expect((await runPlaza(["token", "list"], { cwd })).stdout).toContain("1001");
  });

  test("keeps the control key of a folder, until the operator sets another", async () => {
    const data = newFolder();
    const keyOf = async (env: Record<string, string> = {}) => {
      const plaza = await startPlaza(["--data", data], { env });
      expect((await plaza.control("GET", "clock")).status).toBe(200);
      await plaza.end("SIGKILL");
      return plaza.ready.control_key;
    };
    const first = await keyOf();
    expect(await keyOf()).toBe(first);
    expect(await keyOf({ PLAZA_CONTROL_KEY: "chosen" })).toBe("chosen");
    expect(await keyOf()).toBe("chosen");
    writeFileSync(join(data, "control.key"), "not a key\n");
    const refused = await runPlaza(["start", "--data", data]);
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("control.key contains no control key") });
  });

  test("stores no key without the sandbox", async () => {
    const data = newFolder();
    const env = { PLAZA_CONTROL_KEY: "a-key-that-the-operator-chose" };
    await (await startPlaza(["--data", data, "--no-sandbox"], { env })).end();
    for (const name of readdirSync(data)) expect(readFileSync(join(data, name), "latin1")).not.toContain(env.PLAZA_CONTROL_KEY);
    expect(existsSync(join(data, "control.key"))).toBeFalse();
  });

  test("names an unused scope on stderr", async () => {
    const { ready } = await startPlaza(["--data", ":memory:"]);
    const env = { PLAZA_CONTROL_URL: ready.control_url, PLAZA_CONTROL_KEY: ready.control_key as string };
    const { code, stderr } = await runPlaza(["token", "mint", "--type", "app", "--app", "1001", "--scopes", "pages_mesaging"], { env });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "plaza: no operation needs the scope pages_mesaging; did you mean pages_messaging?\n",
    });
  });

  test("ends without a word when its reader has enough", async () => {
    const { ready } = await startPlaza(["--data", ":memory:"]);
    const env = { PATH: process.env.PATH ?? "", PLAZA_CONTROL_URL: ready.control_url, PLAZA_CONTROL_KEY: ready.control_key as string };
    const piped = Bun.spawn(["bash", "-c", `"${PROGRAM}" token list | true; echo "\${PIPESTATUS[0]}"`], { env, stdout: "pipe", stderr: "pipe" });
    expect(await new Response(piped.stdout).text()).toBe("0\n");
    expect(await new Response(piped.stderr).text()).toBe("");
  });

  test("reports a failure in one line on stderr", async () => {
    const data = newFolder();
    const plaza = await startPlaza(["--data", data]);
    const url = plaza.ready.control_url;
    expect(await runPlaza(["token", "list", "--control-url", url, "--control-key", "wrong"])).toMatchObject({ code: 1, stdout: "" });
    expect(await runPlaza(["token", "list", "--control-url", url])).toMatchObject({ code: 2, stdout: "" });
    expect(await runPlaza(["token", "mint", "--app", "1"])).toMatchObject({ code: 2, stdout: "" });
    const unreached = await runPlaza(["token", "list", "--control-url", "http://127.0.0.1:1", "--control-key", "any"]);
    expect(unreached).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^plaza: --control-url: no server listens at http:\/\/127\.0\.0\.1:1\n$/),
    });
    const missing = await runPlaza([
      "token",
      "mint",
      "--type",
      "app",
      "--app",
      "1",
      "--control-url",
      url,
      "--control-key",
      plaza.ready.control_key as string,
    ]);
    expect(missing).toEqual({ code: 1, stdout: "", stderr: "plaza: app refers to 1, which does not exist\n" });
  });
});
