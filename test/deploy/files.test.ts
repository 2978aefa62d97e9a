/** Checks that the files of deploy/ and .github/ fit the program and each other. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { program } from "#cli/program";
import { variableOf } from "#config/option";
import { optionsWith } from "#config/options";
import { readConfig } from "#config/read-config";
import { settings } from "#features";

const ROOT = join(import.meta.dir, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const known = optionsWith(settings).map(({ name }) => variableOf(name));

/** The variables in lines `NAME=value`, including lines that are commented out. */
const variablesIn = (text: string): string[] => [...text.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name]) => name as string);

describe("the container", () => {
  const dockerfile = read("deploy/container/Dockerfile");
  const instructions = dockerfile
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ name: line.split(" ", 1)[0] as string, rest: line.slice(line.indexOf(" ") + 1) }));
  const last = (name: string): string | undefined => instructions.findLast((one) => one.name === name)?.rest;

  test("the build gets the files that its command reads, and no others", () => {
    const lines = read("deploy/container/Dockerfile.dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(lines[0]).toBe("*");
    const letIn = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    for (const path of letIn) expect({ path, exists: existsSync(join(ROOT, path)) }).toEqual({ path, exists: true });
    // Paths that tools/package.mjs and the sources name: their own folders, the demo world, the clauses of the conformance suite, and the
    // targets of the imports of package.json, except for those that only tests use.
    const imports = Object.values(JSON.parse(read("package.json")).imports as Record<string, string>)
      .map((path) => path.split("/")[1] as string)
      .filter((part) => part !== "test");
    expect(letIn).toEqual(expect.arrayContaining([...new Set(imports), "package-lock.json", "spec", "tools", "LICENSE"]));
    const copied = instructions
      .filter(({ name, rest }) => name === "COPY" && !rest.startsWith("--from"))
      .flatMap(({ rest }) => rest.split(" ").slice(0, -1));
    for (const path of copied.filter((one) => one !== ".")) expect(letIn).toContain(path);
  });

  test("it runs as an ordinary user, on the data folder, with a health check that exists", () => {
    expect(last("USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const environment = Object.fromEntries((last("ENV") ?? "").split(" ").map((pair) => pair.split("=") as [string, string]));
    for (const name of Object.keys(environment)) expect(known).toContain(name);
    expect(last("VOLUME")).toBe(environment.PLAZA_DATA as string);
    const check = JSON.parse(/CMD (\[.*\])$/.exec(last("HEALTHCHECK") ?? "")?.[1] ?? "[]") as string[];
    expect(JSON.parse(last("ENTRYPOINT") ?? "")).toEqual([check[0]]);
    const command = program({ settings }).commands.find((one) => one.name() === check[1]);
    expect(command?.options.map(({ long }) => long)).toEqual(expect.arrayContaining(check.slice(2)));
  });

  test("compose gives Plaza existing options, and requires every secret", () => {
    const { services, volumes } = parse(read("deploy/container/compose.yaml"));
    const { environment, ports, volumes: mounts } = services.plaza;
    const asked = [...read("deploy/container/compose.yaml").matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name as string);
    // order: compose uses the variables in the order in which it needs them.
    expect([...new Set(asked)].sort()).toEqual(variablesIn(read("deploy/container/env.example")).sort());
    const values = Object.fromEntries(
      Object.entries(environment as Record<string, string>).map(([name, value]) => [name, value.replaceAll(/\$\{\w+:\?[^}]*\}/g, "ab".repeat(32))]),
    );
    for (const name of Object.keys(values)) expect(known).toContain(name);
    expect(readConfig({}, values, undefined, settings)).toMatchObject({
      sandbox: false,
      control_host: "0.0.0.0",
      data: expect.stringMatching(/^postgres:/),
    });
    // The control API is published only on loopback.
    expect(ports.filter((port: string) => port.includes("4001"))).toEqual(["127.0.0.1:4001:4001"]);
    for (const mount of [...mounts, ...services.postgres.volumes] as string[]) expect(Object.keys(volumes)).toContain(mount.split(":")[0] as string);
    expect(services.plaza.depends_on.postgres.condition).toBe("service_healthy");
    expect(services.postgres.healthcheck.test).toEqual(["CMD-SHELL", expect.stringMatching(/^pg_isready /)]);
  });
});

describe("the systemd unit", () => {
  const unit = read("deploy/systemd/plaza.service");
  const settingOf = (key: string): string | undefined => new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1];

  test("it starts an existing command with existing options", () => {
    const [path, command, ...flags] = (settingOf("ExecStart") ?? "").split(" ");
    expect(path).toBe("/usr/local/bin/plaza");
    const start = program({ settings }).commands.find((one) => one.name() === command);
    expect(start?.options.map(({ long }) => long)).toEqual(expect.arrayContaining(flags));
    const variables = [...variablesIn(read("deploy/systemd/plaza.env.example")), (settingOf("Environment") ?? "").split("=")[0] as string];
    for (const name of variables) expect(known).toContain(name);
  });

  test("it allows as much time as a stop of Plaza takes, and does not restart a program that cannot start", () => {
    expect(Number(settingOf("TimeoutStopSec"))).toBeGreaterThan(10);
    expect(settingOf("RestartPreventExitStatus")).toBe("2");
    expect(settingOf("User")).not.toBe("root");
  });
});
