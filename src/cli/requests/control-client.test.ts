/** Tests which server and key a command uses, and its message if it finds no server. */
import { beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { announceServer, controlKeyOf } from "#config/server-files";
import { ControlRefusal } from "#control/client/requests";
import { controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { variables } from "#harness/cli/variables";
import { temporaryFolder } from "#harness/server";
import { controlRequests, findServerAddress, mayHaveServer, pidOnData, serverAddress, withServer } from "../control-client.ts";

beforeEach(() => variables({ PLAZA_CONTROL_URL: undefined, PLAZA_CONTROL_KEY: undefined, PLAZA_DATA: undefined, PLAZA_CONFIG: undefined }));

/** Makes a data folder with a server's key and the file that says that a server of this process runs at `address`. */
function dataOfServer(control_url = "http://folder:1", key: string | undefined = "key-of-the-folder"): string {
  const data = temporaryFolder();
  announceServer({ data }, { pid: process.pid, base_url: "http://g", control_url });
  if (key !== undefined) controlKeyOf({ data, control_key: key, sandbox: true }, () => "");
  return data;
}

const shortOf = async (given: Readonly<Record<string, unknown>>) => {
  const found = await findServerAddress(given);
  return found === undefined ? undefined : `${found.url} ${found.key}`;
};

describe("the server is", () => {
  test("the named one, then that of the data on the command line, then that of a variable, then that of the default data", async () => {
    const data = dataOfServer();
    expect(await shortOf({ data, control_url: "http://named:2" })).toBe("http://named:2 key-of-the-folder");
    variables({ PLAZA_CONTROL_URL: "http://variable:3" });
    expect(await shortOf({ data })).toBe("http://folder:1 key-of-the-folder");
    variables({ PLAZA_DATA: data });
    expect(await shortOf({})).toBe("http://variable:3 key-of-the-folder");
    variables({ PLAZA_CONTROL_URL: undefined });
    expect(await shortOf({})).toBe("http://folder:1 key-of-the-folder");
    const config = join(temporaryFolder(), "own.yaml");
    writeFileSync(config, `data: ${data}\n`);
    variables({ PLAZA_DATA: undefined });
    expect(await shortOf({ config })).toBe("http://folder:1 key-of-the-folder");
    expect(await shortOf({ data: temporaryFolder() })).toBeUndefined();
  });

  test("asked with the given key, then the variable's, then the folder's; without a key nothing is sent", async () => {
    const data = dataOfServer();
    variables({ PLAZA_CONTROL_KEY: "key-of-the-variable" });
    expect(await shortOf({ data, control_key: "key-that-is-named" })).toBe("http://folder:1 key-that-is-named");
    expect(await shortOf({ data })).toBe("http://folder:1 key-of-the-variable");
    variables({ PLAZA_CONTROL_KEY: undefined });
    const without = temporaryFolder();
    expect(shortOf({ data: without, control_url: "http://named:2" })).rejects.toThrow(
      `PLAZA_CONTROL_KEY: is required: neither this variable nor ${without} has a control key`,
    );
    expect(shortOf({ data, control_url: "named" })).rejects.toThrow('--control-url: "named" is not an address');
    expect(shortOf({ data, control_url: 5 })).rejects.toThrow('--control-url: "5" is not an address');
  });

  test("named with or without /v1 and final slashes", async () => {
    for (const control_url of ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1//"])
      expect(await shortOf({ control_url, control_key: "k" })).toBe("http://h:1 k");
  });

  test("trusted under any name if its folder names it, and only under its own if a person does", async () => {
    const data = dataOfServer();
    const check = async (given: object) => (await findServerAddress({ data, ...given }))?.connection.tls?.checkServerIdentity;
    expect((await check({}))?.("elsewhere", {} as never)).toBeUndefined();
    expect(await check({})).toBeFunction();
    expect(await check({ control_url: "https://named:2" })).toBeUndefined();
  });

  test("at the default port if nothing else is known; a folder without a server is reported", async () => {
    const data = temporaryFolder();
    expect(await serverAddress({ data: ":memory:", control_key: "k" })).toMatchObject({ url: "http://127.0.0.1:4001", key: "k" });
    expect(serverAddress({ data })).rejects.toThrow("--control-url: no server runs on the data of this folder");
    expect(await serverAddress({ data: dataOfServer() })).toMatchObject({ url: "http://folder:1" });
    expect(await mayHaveServer({ data })).toBe(false);
    expect(await mayHaveServer({ data: ":memory:" })).toBe(true);
    expect(await mayHaveServer({ data: dataOfServer() })).toBe(true);
    expect(await pidOnData({ data })).toBeUndefined();
    expect(await pidOnData({ data: dataOfServer() })).toBe(process.pid);
  });
});

describe("a request", () => {
  test("is for the world unless it begins with a slash, and has a content type if it has a body", async () => {
    const stub = controlStub();
    const control = await controlRequests({ ...stub.given, world_name: "a/b" });
    await control.request("POST", "clock/advance", { seconds: 1 });
    await control.request("GET", "/v1/server/");
    await control.send("/readyz", { headers: { accept: "text/plain" } });
    expect([control.url, control.world]).toEqual([stub.url, "/v1/worlds/a%2Fb"]);
    expect(stub.asked).toEqual([
      { method: "POST", path: "/v1/worlds/a%2Fb/clock/advance", body: { seconds: 1 } },
      { method: "GET", path: "/v1/server/" },
      { method: "GET", path: "/readyz" },
    ]);
    const headersOf = (name: string) => stub.headers.map((headers) => headers.get(name));
    expect(headersOf("authorization")).toEqual(Array(3).fill(`Bearer ${stub.key}`));
    expect([headersOf("content-type")[0], headersOf("content-type")[1], headersOf("accept")[2]]).toEqual(["application/json", null, "text/plain"]);
    const { world_name: _, ...unnamed } = stub.given;
    expect((await controlRequests(unnamed)).world).toBe("/v1/worlds/default");
  });

  test("that is refused prints the server's reason", async () => {
    const refusal = (response: Response) => {
      const { given } = controlStub(() => response);
      return controlRequests(given).then((control) => control.request("GET", "clock"));
    };
    expect(refusal(Response.json({ error: { message: "no such world" } }, { status: 404 }))).rejects.toThrow(new ControlRefusal("no such world"));
    expect(refusal(Response.json({}, { status: 500 }))).rejects.toThrow("the control API returned 500");
    expect(refusal(Response.json(null, { status: 500 }))).rejects.toThrow("the control API returned 500");
    await expect(refusal(new Response("<html>", { status: 502 }))).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:\d+ is not a control API: it returned 502 without JSON$/,
    );
  });
});

describe("a command", () => {
  const run = async (given: object, error?: Error) => {
    const streams = written();
    const code = await withServer({ control_url: "http://127.0.0.1:1", control_key: "k", ...given }, async (control) => {
      if (error !== undefined) throw error;
      await control.request("GET", "clock");
      return 0;
    });
    return { code, said: streams.err };
  };

  test("reports in one line a refusal, a usage error, and that nobody listens", async () => {
    expect(await run({}, new ControlRefusal("no"))).toEqual({ code: 1, said: "plaza: no\n" });
    expect(await run({})).toEqual({ code: 2, said: "plaza: --control-url: no server listens at http://127.0.0.1:1\n" });
    expect(await run({ control_url: "x" })).toEqual({ code: 2, said: 'plaza: --control-url: "x" is not an address\n' });
    expect(await run({}, new TypeError("a mistake of the program"))).toEqual({ code: 1, said: "" });
  });

  test("names variables that are nearly its own", async () => {
    variables({ PLAZA_CONTROL_KYE: "1" });
    expect((await run({}, new ControlRefusal("no"))).said).toBe(
      "plaza: Plaza does not read the variable PLAZA_CONTROL_KYE; did you mean PLAZA_CONTROL_KEY?\nplaza: no\n",
    );
  });

  test("that works without a server learns that there is none", async () => {
    written();
    const asked = (data: string, ifNone?: () => number) => withServer({ data, control_key: "k" }, async () => 5, ifNone);
    expect(await asked(temporaryFolder(), () => 7)).toBe(7);
    expect(await asked(":memory:", () => 7)).toBe(5);
    expect(await asked(temporaryFolder())).toBe(5);
  });
});
