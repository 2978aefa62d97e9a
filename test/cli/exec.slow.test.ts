import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { testOnPostgres } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import { endAll, newFolder, PROGRAM, runPlaza, spawnPlaza } from "./plaza-process.ts";

afterEach(endAll);

/** A command that runs a script on Node, which every machine with this project has. */
const node = (script: string): string[] => ["node", "--input-type=module", "-e", script];

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const ASK = `
const { PLAZA_BASE_URL, PLAZA_CONTROL_URL, PLAZA_CONTROL_KEY } = process.env;
const token = "demo-page-token";
const page = await fetch(PLAZA_BASE_URL + "/v26.0/2001/personas?access_token=" + token + "&oauth_token=" + token, { headers: { authorization: "Bearer " + token } });
const clock = await fetch(PLAZA_CONTROL_URL + "/v1/worlds/default/clock", { headers: { authorization: "Bearer " + PLAZA_CONTROL_KEY } });
console.log(JSON.stringify({ page: page.status, clock: clock.status, variables: Object.keys(process.env).filter((name) => name.startsWith("PLAZA_")).sort() }));
`;

describe("plaza exec", () => {
  testOnPostgres("has its worlds in the databases of --databases, but not in those and in --data", async () => {
    const databases = ["--databases", `eu1=${await (await sharedPostgres()).newDatabase()}`];
    expect(await runPlaza(["exec", ...databases, "--", ...node(ASK)])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"page":200'),
      stderr: "",
    });
    const both = await runPlaza(["exec", ...databases, "--data", "data", "--", ...node(ASK)]);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("--databases: cannot be combined with --data") });
  });

  test("runs a command with its own server, prints nothing itself, and leaves nothing in the folder", async () => {
    const cwd = newFolder();
    const { code, stdout, stderr } = await runPlaza(["exec", "--", ...node(ASK)], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      page: 200,
      clock: 200,
      variables: [
        "PLAZA_ADS_BASE_URL",
        "PLAZA_APP_BASE_URL",
        "PLAZA_BASE_URL",
        "PLAZA_CONTROL_KEY",
        "PLAZA_CONTROL_URL",
        "PLAZA_MICROBLOG_BASE_URL",
        "PLAZA_SOCIAL_LOGIN_HOST",
      ],
    });
    expect([...new Bun.Glob("**/*").scanSync({ cwd, dot: true })]).toEqual([]);
  });

  test("ends with the exit code of the command, and its server ends with it", async () => {
    const { code, stdout } = await runPlaza(["exec", ...node("console.log(process.env.PLAZA_CONTROL_URL, process.ppid); process.exit(7)")]);
    expect(code).toBe(7);
    const [url = "", pid] = stdout.trim().split(" ");
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("Unable to connect");
    expect(isRunning(Number(pid))).toBeFalse();
  });

  test("accepts the options of start before the command; everything after the command belongs to it", async () => {
    const world = join(newFolder(), "world.yaml");
    writeFileSync(world, "profile: clients\npages: [{id: 4711}]");
    const script = `const { PLAZA_CONTROL_URL: url, PLAZA_CONTROL_KEY: key } = process.env;
      const response = await fetch(url + "/v1/worlds/default/nodes/pages", { headers: { authorization: "Bearer " + key } });
      console.log((await response.json()).data[0].id, process.argv.slice(1).join(" "));`;
    const { code, stdout } = await runPlaza(["exec", "--world", world, ...node(script), "--", "--world", "mine"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "4711 --world mine\n" });
  });

  test("does not touch the project's own server: its ports, its data and its world", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "plaza.config.yaml"), "port: 80\ndata: ./mine\nworkers: 4\n");
    const env = { PLAZA_DATA: "postgres://nobody@127.0.0.1:1/none", PLAZA_CONTROL_PORT: "80" };
    expect(await runPlaza(["exec", "--", ...node("process.exit(3)")], { cwd, env })).toEqual({ code: 3, stdout: "", stderr: "" });
    expect([...new Bun.Glob("**/*").scanSync({ cwd, dot: true })]).toEqual(["plaza.config.yaml"]);
  });

  test("passes signals on to the command, which decides how it ends", async () => {
    const waits = (on: string) => `process.on("SIGTERM", () => { ${on} }); console.log("ready"); setInterval(() => {}, 1000);`;
    for (const [on, code] of [
      ["process.exit(5)", 5],
      ["process.removeAllListeners('SIGTERM'); process.kill(process.pid, 'SIGTERM')", 143],
    ] as const) {
      const running = spawnPlaza(["exec", "--", ...node(waits(on))]);
      await running.stdout.getReader().read();
      running.kill("SIGTERM");
      expect(await running.exited).toBe(code);
    }
  });

  test("at a terminal Ctrl-C reaches the command once, from the terminal; a sent signal is passed on", async () => {
    const folder = newFolder();
    const script = `
      process.on("SIGINT", () => console.log("interrupted"));
      process.on("SIGTERM", () => { console.log("ended"); process.exit(4); });
      console.log("below " + process.ppid + " ready");
      setInterval(() => {}, 1000);`;
    writeFileSync(join(folder, "waits.mjs"), script);
    // `script` of util-linux runs a command at a terminal of its own. The shell of `script` replaces itself with the command, because a waiting shell
    // hears Ctrl-C too, and some shells then end as if they had ended the command.
    const terminal = Bun.spawn(["script", "-qec", `exec "${PROGRAM}" exec -- node waits.mjs`, "/dev/null"], {
      cwd: folder,
      stdin: "pipe",
      stdout: "pipe",
    });
    const reader = terminal.stdout.getReader();
    let output = "";
    const says = async (text: string) => {
      while (!output.includes(text)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`it ended with ${JSON.stringify(output)}`);
        output += new TextDecoder().decode(value);
      }
    };
    await says("ready");
    terminal.stdin.write("\u0003");
    await says("interrupted");
    process.kill(Number(/below (\d+)/.exec(output)?.[1]), "SIGTERM");
    await says("ended");
    expect(await terminal.exited).toBe(4);
    expect(output.split("interrupted")).toHaveLength(2);
  });

  test("started by the launcher in JavaScript, it passes signals on too, and the command has no channel of the launcher", async () => {
    const script =
      "process.on('SIGTERM', () => process.exit(6)); console.log(process.send === undefined, process.env.NODE_CHANNEL_FD); setInterval(() => {}, 1000);";
    const launched = Bun.spawn(["node", join(import.meta.dir, "../../bin/plaza.mjs"), "exec", "--", ...node(script)], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const { value } = await launched.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe("true undefined\n");
    launched.kill("SIGTERM");
    expect(await launched.exited).toBe(6);
  });

  test("reports in one line, with an exit code, what cannot be started", async () => {
    expect(await runPlaza(["exec", "--", "no-such-program"])).toMatchObject({
      code: 127,
      stdout: "",
      stderr: expect.stringMatching(/^plaza: no-such-program cannot be run: [^\n]+\n$/),
    });
    expect(await runPlaza(["exec", "--port", "x", "--", "true"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--port") });
    expect(await runPlaza(["exec"])).toMatchObject({ code: 2, stdout: "" });
  });
});
