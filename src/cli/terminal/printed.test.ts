/** The messages and exit codes of a program that cannot continue. */
import { describe, expect, test } from "bun:test";
import { ControlRefusal, resultOf, WrongParameter } from "#control/client/requests";
import { written } from "#harness/cli/printed";
import type { Log } from "#telemetry/log";
import { listAll, show } from "../ask-route.ts";
import { report } from "../process-end.ts";
import { resultAtItsEnd } from "../world.ts";

const errorOf = (message: string, more: { name?: string; code?: string; errorName?: string; cause?: unknown } = {}): Error =>
  Object.assign(new Error(message), more);

/** Returns the message for a person, or the line for the log. */
async function reported(error: unknown) {
  const streams = written();
  const logged: unknown[] = [];
  const code = await report(error, { error: (...line: unknown[]) => logged.push(line[1]), flush: async () => {} } as unknown as Log);
  return { code, said: streams.err, logged };
}
const said = (code: number, line: string) => ({ code, said: `plaza: ${line}\n`, logged: [] });

describe("an error", () => {
  test.each(["ConfigProblem", "WorldFileProblem", "FolderInUse", "DataNotEmpty", "UnknownMigration", "WrongAddress"])(
    "%s is the caller's mistake, and is one line",
    async (name) => {
      expect(await reported(errorOf("what to change", { name }))).toEqual(said(2, "what to change"));
    },
  );

  test("of a command's parameter names the option, and a refusal of the control API is not the caller's mistake", async () => {
    expect(await reported(new WrongParameter("as", "nobody is called Al"))).toEqual(said(2, "--as: nobody is called Al"));
    expect(await reported(new ControlRefusal("no such world"))).toEqual(said(1, "no such world"));
  });

  test("of a migration is one line, and not the caller's mistake; any other is logged with its place", async () => {
    expect(await reported(errorOf("no", { name: "MigrationFailed" }))).toEqual(said(1, "no"));
    for (const error of [errorOf("no"), errorOf("no", { code: "EIO" }), errorOf("no", { code: 5 as never }), "no", undefined])
      expect(await reported(error)).toEqual({ code: 1, said: "", logged: ["the command failed unexpectedly"] });
  });

  test("of the system is printed with its reason, unless its text has one", async () => {
    expect(await reported(errorOf("open /x", { code: "EACCES" }))).toEqual(said(2, "open /x: permission denied"));
    expect(await reported(errorOf("permission denied: /x", { code: "EACCES" }))).toEqual(said(2, "permission denied: /x"));
    expect(await reported(errorOf("getaddrinfo h", { code: "ENOTFOUND" }))).toEqual(said(2, "getaddrinfo h: there is no such address"));
    const codes = ["ENOENT", "ENOTDIR", "EEXIST", "EROFS", "SQLITE_NOTADB", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_READONLY_DIRECTORY"];
    for (const code of [...codes, "3D000", "28000", "28P01", "42501"]) expect(await reported(errorOf("no", { code }))).toEqual(said(2, "no"));
    for (const [code, reason] of [
      ["EPERM", "operation not permitted"],
      ["ENOSPC", "no space left on device"],
      ["EDQUOT", "the disk quota is used up"],
      ["SQLITE_FULL", "the disk is full"],
      ["3F000", "the database user needs the rights USAGE and CREATE on the schema"],
    ] as const) {
      expect(await reported(errorOf("write", { code }))).toEqual(said(2, `write: ${reason}`));
      expect(await reported(errorOf("no", { name: "MigrationFailed", cause: errorOf("write", { code }) }))).toEqual(said(2, `no: ${reason}`));
    }
  });

  test("of an unreachable database names its cause", async () => {
    const unreached = { errorName: "databaseUnreachable" };
    expect(await reported(errorOf("no", { ...unreached, cause: new Error("refused") }))).toEqual(
      said(2, "--data: the database cannot be reached: refused"),
    );
    expect(await reported(errorOf("no", unreached))).toEqual(said(2, "--data: the database cannot be reached: no"));
    expect((await reported(errorOf("no", { errorName: "tokenExpired" }))).code).toBe(1);
  });

  test("never shows the password of a database", async () => {
    for (const [message, shown] of [
      ["postgres://u:s3cret@h/d fails", "postgres://u:…@h/d fails"],
      ["POSTGRESQL://u:s3cret@h postgres://:s3cret@h", "POSTGRESQL://u:…@h postgres://:…@h"],
      ["postgres://u@h/d http://u:p@h", "postgres://u@h/d http://u:p@h"],
    ] as const) {
      expect((await reported(errorOf(message, { name: "ConfigProblem" }))).said).toBe(`plaza: ${shown}\n`);
      expect((await reported(errorOf("no", { errorName: "databaseUnreachable", cause: new Error(message) }))).said).toEndWith(`: ${shown}\n`);
    }
  });
});

describe("a response of the control API", () => {
  const json = (body: unknown, status = 200) => Response.json(body, { status });

  test("is printed, with its warnings", () => {
    const streams = written();
    expect(show({ id: "1", warnings: ["careful", "very"] } as object)).toBe(0);
    expect(streams).toEqual({ out: '{\n  "id": "1"\n}\n', err: "plaza: careful\nplaza: very\n" });
  });

  test("of long work is read at its end, after its progress", async () => {
    const steps: unknown[] = [];
    const resultOfWork = (response: Response) => resultAtItsEnd(response, (done, total) => steps.push([done, total]));
    const events = (...list: [event: string, value: unknown][]) =>
      new Response(list.map(([event, value]) => `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`).join(""), {
        headers: { "content-type": "text/event-stream" },
      });
    const result = resultOfWork(events(["progress", { done: 1, total: 2 }], ["progress", { done: 2, total: 2 }], ["result", { users: 3 }]));
    expect(await result).toEqual({ users: 3 } as object);
    expect(steps).toEqual([
      [1, 2],
      [2, 2],
    ]);
    await expect(resultOfWork(events(["error", { error: { message: "users[0]: no" } }]))).rejects.toThrow(new ControlRefusal("users[0]: no"));
    await expect(resultOfWork(json({ error: { message: "refused" } }, 400))).rejects.toThrow(new ControlRefusal("refused"));
    await expect(resultOfWork(events(["progress", { done: 1, total: 2 }]))).rejects.toThrow("the server ended before it reported the result");
  });

  test("with a list is read page by page, one line per entry, until a page is refused", async () => {
    const streams = written();
    const asked: string[] = [];
    const controlOf = (pages: Readonly<Record<string, Response>>) => ({
      request: async (_method: string, path: string) => {
        asked.push(path);
        return resultOf(pages[path] as Response);
      },
    });
    const next = { next: "http://elsewhere:1/v1/tokens?after=b&limit=2" };
    const pages = { "/v1/tokens": json({ data: [1, { a: "b" }], paging: next }), "/v1/tokens?after=b&limit=2": json({ data: [3] }) };
    expect(await listAll(controlOf(pages), "/v1/tokens")).toBe(0);
    expect({ asked, ...streams }).toEqual({ asked: ["/v1/tokens", "/v1/tokens?after=b&limit=2"], out: '1\n{"a":"b"}\n3\n', err: "" });
    await expect(listAll(controlOf({ "/a": json({ error: { message: "no" } }, 403) }), "/a")).rejects.toThrow(new ControlRefusal("no"));
    expect(await listAll(controlOf({ "/a": json({}) }), "/a")).toBe(0);
  });
});
