/** The files that `plaza init` writes, next to existing files. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { afterThisTest } from "#harness/cleanup";
import { routes } from "#harness/cli/command-line";
import { written } from "#harness/cli/printed";
import { temporaryFolder } from "#harness/server";
import { program } from "../program.ts";
import { init } from "./init.ts";

/** Sets `process.argv[1]`, which is the path of the program that the launcher has started. */
function programAt(path: string): void {
  const before = process.argv[1] as string;
  process.argv[1] = path;
  afterThisTest(() => {
    process.argv[1] = before;
  });
}

const madeIn = (folder: string): string => {
  const streams = written();
  expect(init(folder)).toBe(0);
  return streams.out;
};

test("the created files name each other, load at each start, and accept requests of client libraries", () => {
  const folder = temporaryFolder();
  madeIn(folder);
  expect(readdirSync(folder).sort()).toEqual([".plaza", "config.schema.json", "plaza.config.yaml", "world.schema.json", "world.yaml"]);
  expect(parse(readFileSync(join(folder, "plaza.config.yaml"), "utf8"))).toEqual({ world: "world.yaml", import: true, profile: "clients" });
  expect(Object.keys(parse(readFileSync(join(folder, "world.yaml"), "utf8")))).toEqual([
    ...["apps", "users", "pages", "chatapp_accounts", "phone_numbers", "tokens"],
  ]);
});

test("a folder that cannot be written is refused in one sentence", () => {
  const folder = join(temporaryFolder(), "a-file");
  writeFileSync(folder, "");
  const streams = written();
  expect(init(folder)).toBe(2);
  expect(streams).toEqual({
    out: "",
    err: `plaza: the folder ${folder} cannot be written (ENOTDIR): run plaza init in a folder in which you may write\n`,
  });
});

test("with --agent there is a skill file, whose commands are those of the program", () => {
  programAt("/usr/lib/node_modules/plaza-graph/dist/plaza.js");
  const folder = temporaryFolder();
  const streams = written();
  expect(init(folder, true)).toBe(0);
  expect(streams.out).toContain("created .agents/skills/plaza/SKILL.md\n");
  const text = readFileSync(join(folder, ".agents/skills/plaza/SKILL.md"), "utf8");
  expect(text).toStartWith("---\nname: plaza\ndescription: ");
  const commands = program({ routes }).commands.map((one) => one.name());
  const named = [...text.matchAll(/`plaza ([a-z-]+)/g)].map(([, name]) => name);
  expect(named).toContain("call");
  expect(commands).toEqual(expect.arrayContaining(named));
});

test("git ignores the data folder, which holds keys, and the project's own .gitignore stays as it is", () => {
  const folder = temporaryFolder();
  expect(Bun.spawnSync(["git", "init", "-q"], { cwd: folder }).exitCode).toBe(0);
  writeFileSync(join(folder, ".gitignore"), "node_modules");
  expect(madeIn(folder)).toContain("created .plaza/.gitignore\n");
  writeFileSync(join(folder, ".plaza/control.key"), "a key");
  expect(Bun.spawnSync(["git", "status", "--porcelain", "-uall"], { cwd: folder }).stdout.toString()).not.toContain(".plaza");
  expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("node_modules");
});

describe("the command to type is", () => {
  const typedIn = (folder: string): string | undefined => /\n {2}(\S+|npx --no-install plaza) start\n/.exec(madeIn(folder))?.[1];

  test("npx --no-install plaza if the project has the package, and plaza if the machine has it or nobody knows", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "node_modules/plaza-graph"), { recursive: true });
    expect(typedIn(folder)).toBe("npx --no-install plaza");
    programAt("/usr/lib/node_modules/plaza-graph/dist/plaza.js");
    expect(typedIn(temporaryFolder())).toBe("plaza");
    programAt(join(temporaryFolder(), "src/cli/plaza.ts"));
    expect(typedIn(temporaryFolder())).toBe("plaza");
  });

  test("the path to the launcher of a clone", () => {
    const clone = temporaryFolder();
    mkdirSync(join(clone, "bin"));
    writeFileSync(join(clone, "bin/plaza"), "");
    programAt(join(clone, "src/cli/plaza.ts"));
    expect(typedIn(clone)).toBe("bin/plaza");
    expect(typedIn(join(clone, "bin"))).toBe("./plaza");
  });
});
