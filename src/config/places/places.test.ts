/** Errors of listeners, the config file, and the web pages that may use a sandbox. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { variables } from "#harness/cli/variables";
import { temporaryFolder } from "#harness/server";
import { type Config, ConfigProblem } from "../config.ts";
import { findConfigFile } from "../config-file.ts";
import { addressOf, listening, pageGuardOf, portOf } from "../listening.ts";
import { commandWarnings, variableWarnings } from "../read-config.ts";

describe("a port", () => {
  test("is a whole number from 0 to 65535, or a free one by default", () => {
    for (const [given, port] of [
      [undefined, 0],
      [null, 0],
      ["0", 0],
      ["65535", 65_535],
      [80, 80],
    ] as const)
      expect(portOf(given)).toBe(port);
    for (const none of ["-1", "65536", "1.5", "x", "1e9"]) expect(() => portOf(none)).toThrow(`--port: "${none}" is not an integer from 0 to 65535`);
  });

  test("that a listener cannot have is a problem of the port or of the host; any other failure is not one of the options", async () => {
    const problemOf = async (error: unknown, option = "--control-port") => {
      try {
        return await listening(option, "h", 5, () => {
          throw error;
        });
      } catch (thrown) {
        return thrown instanceof ConfigProblem ? thrown.message : thrown;
      }
    };
    const coded = (code: string) => Object.assign(new Error("no"), { code });
    expect(await problemOf(coded("EADDRINUSE"))).toBe("--control-port: h:5 is in use by another program; choose another port, or 0 for a free one");
    expect(await problemOf(coded("EACCES"))).toBe("--control-port: permission to listen at h:5 is denied");
    expect(await problemOf(coded("EADDRNOTAVAIL"))).toBe("--control-host: this machine does not have the address h");
    expect(await problemOf(coded("ENOTFOUND"))).toBe("--control-host: the host name h has no address");
    expect(await problemOf(new Error("Failed to listen at h"), "--port")).toBe("--host: the host name h has no address");
    for (const other of [coded("EIO"), new Error("no"), Object.assign(new Error("Failed to listen at h"), { code: "EIO" }), "Failed to listen at h"])
      expect(await problemOf(other)).toBe(other);
    expect(await listening("--port", "h", 5, async () => "listener")).toBe("listener");
    await expect(listening("--port", "h", 5, () => Promise.reject(coded("EACCES")))).rejects.toThrow("permission to listen at h:5 is denied");
  });

  test("on every address is requested on this machine", () => {
    expect(["0.0.0.0", "::", "::1", "fe80::1", "127.0.0.1", "example.com"].map(addressOf)).toEqual([
      ...["127.0.0.1", "[::1]", "[::1]", "[fe80::1]", "127.0.0.1", "example.com"],
    ]);
  });
});

describe("the config file", () => {
  const fileOf = (text: string): string => {
    const path = join(temporaryFolder(), "own.yaml");
    writeFileSync(path, text);
    return path;
  };

  test("is the one that an option or a variable names, and holds a map of options, or nothing", async () => {
    const path = fileOf("port: 5\n");
    expect(await findConfigFile({ config: path })).toEqual({ path, values: { port: 5 } });
    variables({ PLAZA_CONFIG: path });
    expect(await findConfigFile()).toEqual({ path, values: { port: 5 } });
    const other = fileOf("port: 6\n");
    expect((await findConfigFile({ config: other }))?.path).toBe(other);
    for (const empty of ["", "# nothing\n", "null\n"]) expect(await findConfigFile({ config: fileOf(empty) })).toBeUndefined();
    for (const none of ["- port\n", "text\n", "5\n"])
      await expect(findConfigFile({ config: fileOf(none) })).rejects.toThrow("must contain a map of options");
    const broken = fileOf("a: [1\nb: 2\n");
    const problem = await findConfigFile({ config: broken }).catch((error: Error) => error);
    expect(problem).toBeInstanceOf(ConfigProblem);
    expect((problem as Error).message).toStartWith(`${broken}: `);
    expect((problem as Error).message).not.toContain("\n");
  });

  test("may be missing only if nobody names it", async () => {
    const folder = temporaryFolder();
    const missing = join(folder, "none.yaml");
    await expect(findConfigFile({ config: missing })).rejects.toThrow(`--config: ${missing} cannot be read: ENOENT`);
    variables({ PLAZA_CONFIG: missing });
    await expect(findConfigFile()).rejects.toThrow(`--config: ${missing} cannot be read: ENOENT`);
    // An empty variable names no config file, and the working folder contains no config file.
    variables({ PLAZA_CONFIG: "" });
    expect(await findConfigFile()).toBeUndefined();
    mkdirSync(join(folder, "folder.yaml"));
    await expect(findConfigFile({ config: join(folder, "folder.yaml") })).rejects.toThrow("cannot be read: EISDIR");
  });
});

test("D-240: a sandbox accepts the named pages and those of its own hosts; other servers accept all", () => {
  const config = {
    ...{ sandbox: true, allow_origin: ["https://app.example"], allow_host: ["plaza"], host: "0.0.0.0", control_host: "::1" },
    ...{ surface_hosts: { ads: "ads.example:81" }, public_url: "https://public.example:444/path" },
  } as unknown as Config;
  const refused = (of: Config, ...hosts: readonly string[]) =>
    hosts.filter((host) => pageGuardOf(of)?.refusalOf({ method: "GET", host, header: () => undefined }) !== undefined);
  const ofSurfaces = ["ads.example", "public.example"];
  expect(refused(config, "plaza", "127.0.0.1", "[::1]", ...ofSurfaces, "elsewhere")).toEqual(["elsewhere"]);
  expect(refused({ ...config, surface_hosts: {}, public_url: undefined }, "plaza", ...ofSurfaces)).toEqual(ofSurfaces);
  const fromPage = (origin: string) =>
    pageGuardOf(config)?.refusalOf({ method: "POST", host: "plaza", header: (name) => (name === "origin" ? origin : undefined) });
  expect([fromPage("https://app.example"), fromPage("https://other.example")]).toEqual([undefined, expect.any(String)]);
  expect(pageGuardOf({ ...config, sandbox: false })).toBeUndefined();
});

describe("an unused variable", () => {
  test("is reported with the name that it resembles, up to twenty of them; variables of clients are in use", () => {
    expect(
      variableWarnings({ PLAZA_PROT: "1", PATH: "", OTHER_PLAZA_PORT: "1", PLAZA_PORT: "1", PLAZA_BASE_URL: "", PLAZA_CONTROL_URL: "" }, []),
    ).toEqual(["Plaza does not read the variable PLAZA_PROT; did you mean PLAZA_PORT?"]);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`PLAZA_NONE_${at}`, "1"]));
    expect(variableWarnings(many, [])).toHaveLength(20);
  });

  test("is a command's only if it resembles one of the command's own", () => {
    expect(commandWarnings({ PLAZA_CONTROL_KYE: "1", PLAZA_PROT: "1", PLAZA_DTA: "1", PLAZA_CONTROL_URI: "1" })).toEqual([
      "Plaza does not read the variable PLAZA_CONTROL_KYE; did you mean PLAZA_CONTROL_KEY?",
      "Plaza does not read the variable PLAZA_DTA; did you mean PLAZA_DATA?",
      "Plaza does not read the variable PLAZA_CONTROL_URI; did you mean PLAZA_CONTROL_URL?",
    ]);
  });
});
