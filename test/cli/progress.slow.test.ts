/** Checks that a command shows the progress of long work, and logs as text, only if its output is a terminal. */
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, PROGRAM, runPlaza, spawnPlaza, startPlaza } from "./plaza-process.ts";

afterEach(endAll);

const ROOT = join(import.meta.dir, "../..");

/** The output of a command on a terminal. The program `script` of util-linux makes the terminal. */
async function onTerminal(command: readonly string[], cwd: string): Promise<string> {
  const line = command.map((word) => `'${word}'`).join(" ");
  const running = Bun.spawn(["script", "-qec", line, "/dev/null"], {
    cwd,
    env: { PATH: process.env.PATH ?? "", TERM: "xterm" },
    stdin: "ignore",
    stdout: "pipe",
  });
  const text = await new Response(running.stdout).text();
  expect(await running.exited).toBe(0);
  return text;
}

function written(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test("an import", async () => {
  const folder = newFolder();
  const labels = Array.from({ length: 5_000 }, (_, at) => ({ id: String(500_000 + at), page: "2001", name: `label ${at}` }));
  const file = written(folder, "world.json", JSON.stringify({ pages: [{ id: "2001" }], labels }));
  const text = await onTerminal([PROGRAM, "world", "import", file, "--data", "one"], folder);
  expect(text).toMatch(/import of 0\.\d MB, \d+ s/);
  expect(text).toMatch(/import █*░* \d+ % {2}[\d,]+ of 5,001 entries/);
  // The command shows its progress from the start of the work, not only at the end.
  expect(text).toMatch(/import █*░+ \d{1,2} % {2}[\d,]+ of 5,001 entries/);
  expect(text).toEndWith("success: true\r\n");
  expect(await runPlaza(["world", "import", file, "--data", "two"], { cwd: folder })).toEqual({
    code: 0,
    stdout: '{\n  "success": true\n}\n',
    stderr: "",
  });
});

test("an import through a running server", async () => {
  const cwd = newFolder();
  await startPlaza([], { cwd });
  const labels = Array.from({ length: 5_000 }, (_, at) => ({ id: String(500_000 + at), page: "2001", name: `label ${at}` }));
  const file = written(cwd, "world.json", JSON.stringify({ labels }));
  const text = await onTerminal([PROGRAM, "world", "import", file], cwd);
  expect(text).toMatch(/import █*░+ \d{1,2} % {2}[\d,]+ of 5,000 entries/);
  expect(text).toEndWith("success: true\r\n");
  const wrong = written(cwd, "wrong.json", JSON.stringify({ labels: [{ id: "1", page: "3", name: "lost" }] }));
  expect(await runPlaza(["world", "import", wrong], { cwd })).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^plaza: .*labels\[0\]/),
  });
});

test("the upload of a feed, which ends with the report of the file", async () => {
  const cwd = newFolder();
  await startPlaza([], { cwd });
  const item = (at: number) => `i${at},A thing,https://example.com/${at},https://example.com/${at}.jpg,9.90 EUR`;
  const file = written(cwd, "feed.csv", ["id,title,link,image_link,price", ...Array.from({ length: 2_000 }, (_, at) => item(at))].join("\n"));
  const text = await onTerminal([PROGRAM, "feed", "upload", file, "--feed", "8101"], cwd);
  expect(text).toMatch(/feed\.csv █+ 100 % {2}0\.\d of 0\.\d MB/);
  const quiet = await runPlaza(["feed", "upload", file, "--feed", "8101", "--format", "csv"], { cwd });
  expect(quiet).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(quiet.stdout)).toMatchObject({ feed: "8101", n: 2, status: "done", items: 2_000, source: "file" });
  expect(await runPlaza(["feed", "upload", file, "--feed", "1"], { cwd })).toMatchObject({
    code: 1,
    stdout: "",
    stderr: "plaza: there is no product feed 1\n",
  });
  expect(await runPlaza(["feed", "upload", "no.csv", "--feed", "8101"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no.csv cannot be read"),
  });
  const broken = written(cwd, "broken.xml", "<rss><channel>");
  expect(await runPlaza(["feed", "upload", broken, "--feed", "8101"], { cwd })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"status": "failed"'),
  });
});

test("the conformance suite", async () => {
  const text = await onTerminal(
    ["node_modules/bun/bin/bun.exe", "conformance/run.ts", "--area", "pagination", "--title", "a list returns data"],
    ROOT,
  );
  expect(text).toMatch(/█+░* \d+ of \d+ cases, 0 failed/);
});

test("logs on a terminal are text, and JSON otherwise", async () => {
  const options = "start --data :memory: --port 0 --control-port 0 --rtmp-port off".split(" ");
  const terminal = Bun.spawn(["script", "-qefc", [PROGRAM, ...options].join(" "), "/dev/null"], {
    stdin: "pipe",
    stdout: "pipe",
    cwd: newFolder(),
  });
  const piped = spawnPlaza(options);
  const firstWith = async (stream: ReadableStream<Uint8Array>, wanted: string) => {
    let text = "";
    for await (const part of stream) {
      text += new TextDecoder().decode(part);
      if (text.includes(wanted)) break;
    }
    return text;
  };
  expect(await firstWith(terminal.stdout, "base_url")).not.toContain('"level":"info"');
  expect(await firstWith(piped.stderr, "base_url")).toContain('{"level":"info"');
  terminal.kill();
  await terminal.exited;
});
