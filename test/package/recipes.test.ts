/** Runs each recipe of docs/guides/testing.md, in a project that has installed the package and the test runner. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isProving } from "#harness/proof";
import { install, newFolder, packed, pathWith, removeFolders, run, userEnvironment } from "./installed.ts";
import { commandOf, commandsOf, writeRecipe } from "./recipes.ts";

const ROOT = join(import.meta.dir, "../..");
/** The time limit of an installation: npm installs about 150 MB on a busy machine. */
const INSTALL_MS_MAX = 600_000;
const RUN_MS_MAX = 120_000;
const RUNNERS = ["vitest@4.1.12", "jest@30.5.2", "@types/node@20.19.25"];
const PYTEST = "pytest==9.2.0";

let consumer = "";

beforeAll(async () => {
  consumer = await install((await packed()).tarball, { beside: RUNNERS });
}, INSTALL_MS_MAX);
afterAll(removeFolders, INSTALL_MS_MAX);

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs a command of the guide as a reader who pastes the command would. */
async function paste(folder: string, command: string, path = pathWith(join(consumer, "node_modules/.bin"))): Promise<Ended> {
  const running = Bun.spawn(["sh", "-c", command], {
    cwd: folder,
    env: { ...userEnvironment(folder, path), NO_COLOR: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
  return { code, output: stdout + stderr };
}

/** The programs that the project has started and that still run. */
const leftOver = (): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const command = readFileSync(join("/proc", pid, "cmdline"), "utf8").replaceAll("\0", " ");
        return command.includes(join(consumer, "node_modules")) ? [command] : [];
      } catch {
        return [];
      }
    });

/** Expects that the recipe has left no program running. A server ends only after the test runner, as soon as it notices that the runner has ended. */
async function expectNothingLeft(): Promise<void> {
  for (let tries = 0; tries < 100 && leftOver().length > 0; tries++) await Bun.sleep(50);
  expect(leftOver()).toEqual([]);
}

const recipes = [
  { title: "Vitest", with: ["A first test", "What a test can do"], passed: /Tests +3 passed/ },
  { title: "Jest", with: [], passed: /Tests: +1 passed/ },
  { title: "node:test", with: [], passed: /pass 1\b/ },
  { title: "bun:test", with: ["A first test"], passed: /1 pass\n/ },
];

for (const { title, with: sections, passed } of recipes) {
  test(
    `${title}: the recipe of the guide passes, and leaves no process behind`,
    async () => {
      const folder = join(consumer, title.replace(":", "-"));
      writeRecipe(folder, title, ...sections);
      expect(await paste(folder, commandOf(title))).toEqual({ code: 0, output: expect.stringMatching(passed) });
      await expectNothingLeft();
    },
    RUN_MS_MAX,
  );
}

// Only `npm run prove` runs these tests, because they install about 200 MB of other versions of Node.
if (isProving) {
  for (const node of [22, 24]) {
    test(
      `the recipes pass on Node ${node}, and leave no process behind`,
      async () => {
        const tools = newFolder();
        const binaries = `node-${process.platform}-${process.arch}`;
        await run(tools, ["npm", "install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", `${binaries}@${node}`]);
        const path = pathWith(join(tools, `node_modules/${binaries}/bin`), join(consumer, "node_modules/.bin"));
        expect(await run(tools, ["node", "--version"], path)).toStartWith(`v${node}.`);
        for (const { title, with: sections, passed } of recipes) {
          const folder = join(consumer, `${title.replace(":", "-")}-${node}`);
          writeRecipe(folder, title, ...sections);
          expect(await paste(folder, commandOf(title), path)).toEqual({ code: 0, output: expect.stringMatching(passed) });
          await expectNothingLeft();
        }
      },
      INSTALL_MS_MAX,
    );
  }
}

/** A copy of the recipe's folder, in the same folder as a clone. The Python fixture is copied too, because pip writes build files into its folder. */
function cloneBeside(recipe: string): string {
  const folder = newFolder();
  cpSync(recipe, join(folder, "project"), { recursive: true });
  mkdirSync(join(folder, "plaza"));
  for (const name of readdirSync(ROOT).filter((one) => one !== "clients")) symlinkSync(join(ROOT, name), join(folder, "plaza", name));
  cpSync(join(ROOT, "clients/pytest-plaza"), join(folder, "plaza/clients/pytest-plaza"), { recursive: true });
  return join(folder, "project");
}

test(
  "pytest: the recipe of the guide and the tests of the fixture pass, and leave no process behind",
  async () => {
    const folder = join(consumer, "pytest");
    writeRecipe(folder, "pytest");
    const fixture = newFolder();
    // pytest writes a cache into the folder of the tests, so it runs on copies of them.
    cpSync(join(ROOT, "clients/pytest-plaza/tests"), join(fixture, "tests"), { recursive: true });
    const environment = join(newFolder(), "python");
    await run(fixture, ["python3", "-m", "venv", environment]);
    await run(fixture, [join(environment, "bin/pip"), "install", "--quiet", PYTEST]);
    const path = pathWith(join(environment, "bin"), join(consumer, "node_modules/.bin"));
    const [install = "", ofClone = ""] = commandsOf("pytest");
    expect(await paste(cloneBeside(folder), ofClone, pathWith(join(environment, "bin")))).toEqual({
      code: 0,
      output: expect.stringContaining("2 passed"),
    });
    expect(await paste(consumer, install, path)).toMatchObject({ code: 0 });
    expect(await paste(folder, commandOf("pytest"), path)).toEqual({ code: 0, output: expect.stringContaining("2 passed") });
    expect(await paste(join(fixture, "tests"), "pytest", path)).toEqual({ code: 0, output: expect.stringContaining("11 passed") });
    await expectNothingLeft();
    writeFileSync(join(folder, "test_killed.py"), "import os\n\ndef test_killed(plaza):\n    os.kill(os.getpid(), 9)\n");
    expect((await paste(folder, "pytest test_killed.py", path)).code).toBe(137);
    await expectNothingLeft();
  },
  INSTALL_MS_MAX,
);

test(
  "the types of the kit are valid in a strict project, as a module and as CommonJS, and refuse unknown keys",
  async () => {
    const folder = join(consumer, "types");
    writeRecipe(folder, "A first test");
    const text = `import { withPlaza } from "plaza-graph/testing";
import { world } from "./world.ts";
export async function run(): Promise<void> {
  const plaza = await withPlaza({ world });
  const { id } = await plaza.nodes("labels").create({ page: "2001", name: "vip" });
  const { name } = await plaza.nodes("labels").update(id, { name: "regular" });
  const count: number = (await plaza.requests.expect({ operation: "createLabel", within_ms: 5 })).count;
  await plaza.faults.add({ operation: "*", status: 503, times: count });
  console.log(name.length);
  // @ts-expect-error: there is no such kind of node.
  plaza.nodes("lables");
  // @ts-expect-error: a label has a page.
  await plaza.nodes("labels").create({ name: "vip" });
}
`;
    const options = { strict: true, noEmit: true, target: "es2022", lib: ["es2022", "dom"], allowImportingTsExtensions: true, types: ["node"] };
    for (const [file, module] of [
      ["use.mts", "nodenext"],
      ["use.cts", "nodenext"],
      ["use.ts", "bundler"],
    ] as const) {
      const isBundled = module === "bundler";
      writeFileSync(join(folder, file), file === "use.cts" ? text.replace('"./world.ts"', '"./world.ts"') : text);
      const moduleOptions = isBundled ? { module: "esnext", moduleResolution: "bundler" } : { module: "nodenext", moduleResolution: "nodenext" };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { ...options, ...moduleOptions }, files: [file] }));
      await run(folder, ["node", join(ROOT, "node_modules/typescript-native/bin/tsc"), "-p", "."]);
    }
  },
  RUN_MS_MAX,
);

test(
  "a test file that is killed leaves no server behind",
  async () => {
    const folder = join(consumer, "killed");
    writeRecipe(folder, "node:test");
    const script = `import { withPlaza } from "plaza-graph/testing";
const { baseUrl } = await withPlaza();
console.log((await fetch(baseUrl + "/v26.0/2001")).status);
process.kill(process.pid, "SIGKILL");
`;
    writeFileSync(join(folder, "killed.mjs"), script);
    expect(await paste(folder, "node killed.mjs")).toEqual({ code: 137, output: expect.stringContaining("401") });
    await expectNothingLeft();
  },
  RUN_MS_MAX,
);
