/** Tests the stderr of a process that writes a log, as another process reads it. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";

/** Starts a process with a script that has `Log` and `StderrLines`. */
function spawned(script: string) {
  const imports = ["log.ts", "stderr-lines.ts"].map(
    (file) => `import * as ${file.split(/\W/)[0]} from ${JSON.stringify(join(import.meta.dir, file))};`,
  );
  const text = `${imports.join("\n")}\nconst { Log } = log;\nconst { StderrLines } = stderr;\n${script}`;
  const running = Bun.spawn([process.execPath, "-e", text], { stdin: "pipe", stdout: "inherit", stderr: "pipe" });
  afterThisTest(() => running.kill("SIGKILL"));
  return running;
}

/** Runs a script to its end, and returns what it writes to stderr. */
async function stderrOf(script: string): Promise<string> {
  const running = spawned(script);
  const written = await new Response(running.stderr).text();
  expect(await running.exited).toBe(0);
  return written;
}

const parsed = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("a log", () => {
  test("shows lines of its level or worse, in order, as JSON", async () => {
    const text = await stderrOf(`
      for (const level of ["error", "warn", "info", "debug", "silent"]) {
        const one = new Log({ level, isPretty: false });
        one.debug({ of: level }, "d");
        one.info({ of: level }, "i");
        one.warn({ of: level }, "w");
        await one.flush();
        one.error({ of: level, access_token: { access_token: "s3cret" } }, "e");
        one.line('"of":"' + level + '"', "l");
        await one.flush();
      }`);
    const shown = Map.groupBy(parsed(text), ({ of }) => of as string);
    expect(Object.fromEntries([...shown].map(([level, lines]) => [level, lines.map(({ msg }) => msg).join("")]))).toEqual({
      ...{ error: "e", warn: "we", info: "iwel", debug: "diwel" },
    });
    expect(text).not.toContain("s3cret");
    const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(shown.get("info")?.at(0)).toEqual({ level: "info", time: ISO, of: "info", msg: "i" });
    expect(shown.get("info")?.at(-1)).toEqual({ level: "info", time: ISO, of: "info", msg: "l" });
    expect(new Set(parsed(text).map(({ level }) => level))).toEqual(new Set(["debug", "info", "warn", "error"]));
  });

  test("is text for people if it is asked to be", async () => {
    const text = await stderrOf(`
      const one = new Log({ level: "info", isPretty: true });
      one.warn({ a: 1 }, "first");
      await one.flush();
      one.line('"b":2', "second");
      await one.flush();`);
    expect(text).toMatch(/WARN.*first\n +a: 1\n[^\n]*INFO.*second\n +b: 2\n/);
  });
});

describe("lines", () => {
  test("are written in the order in which they were added, whether they wait or not", async () => {
    expect(
      await stderrOf(`
        const lines = new StderrLines();
        lines.add("1\\n");
        lines.write("2\\n");
        lines.add("3 ä\\n");
        await lines.flush();
        lines.add("4\\n");
        await lines.flush();
        await lines.flush();`),
    ).toBe("1\n2\n3 ä\n4\n");
  });

  test("that must be written at once are, even if the program ends right then", async () => {
    expect(await stderrOf(`new StderrLines().write("now\\n");`)).toBe("now\n");
  });

  test("are written soon by themselves, the first ones and all later ones", async () => {
    const { stderr, stdin, exited } = spawned(`
      const lines = new StderrLines();
      let count = 0;
      process.stdin.on("data", () => lines.add(++count + "\\n"));
      process.stdin.on("end", () => process.exit(0));`);
    const reader = stderr.getReader();
    for (const line of ["1\n", "2\n", "3\n"]) {
      stdin.write("next");
      stdin.flush();
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(line);
    }
    stdin.end();
    expect(await exited).toBe(0);
  });

  test("are all written before a program that waits for them ends", async () => {
    const lines = await stderrOf(`
      const lines = new StderrLines();
      const addMany = () => {
        for (let at = 0; at < 300; at++) lines.add("x".repeat(1_000) + "\\n");
      };
      addMany();
      lines.write("half of them\\n");
      // These lines wait until the first ones are written.
      addMany();
      await lines.flush();
      process.exit(0);`);
    expect(lines.split("\n")).toHaveLength(602);
  });

  test("wait up to a MiB; the line after them says how many were dropped", async () => {
    const lines = await stderrOf(`
      const lines = new StderrLines();
      const line = "x".repeat(1_023) + "\\n";
      for (let at = 0; at < 1_100; at++) lines.add(line);
      await lines.flush();
      lines.add("y\\n");
      await lines.flush();`);
    // The buffer reserves three bytes for each character, so a line is kept only if the buffer has three free bytes for each of its characters.
    const kept = 1_022;
    const [first, leftOut, ...rest] = [lines.slice(0, kept * 1_024), ...lines.slice(kept * 1_024).split("\n")];
    expect(first).toBe(`${"x".repeat(1_023)}\n`.repeat(kept));
    expect(JSON.parse(leftOut as string)).toEqual({
      ...{ level: "warn", time: expect.stringMatching(/Z$/), lines: 1_100 - kept },
      msg: "lines of the log were dropped, because no program read them",
    });
    expect(rest).toEqual(["y", ""]);
  });
});
