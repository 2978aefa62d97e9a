import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isProving } from "#harness/proof";
import { install, newFolder, packed, pathWith, removeFolders, run, startAndAsk } from "./installed.ts";

/** The time limit of an installation: npm installs about 100 MB on a busy machine. */
const INSTALL_MS_MAX = 600_000;

afterAll(removeFolders);

test(
  "the package has the program, worlds and docs, notices and a list of its contents; no tests, benches or sources",
  async () => {
    const { files } = await packed();
    expect(files).toEqual(
      expect.arrayContaining([
        ...["LICENSE", "README.md", "SECURITY.md", "CHANGELOG.md", "bin/plaza", "bin/plaza.mjs", "dist/plaza.js", "worlds/demo.yaml"],
        ...["docs/operating.md", "dist/sbom.cdx.json", "dist/third-party-notices.txt", "dist/console.pack", "dist/reference.pack"],
        ...["dist/testing/index.js", "dist/testing/index.d.ts", "dist/testing-cjs/index.js", "dist/testing-cjs/index.d.ts", "dist/test-server.js"],
        ...["clients/pytest-plaza/pyproject.toml", "clients/pytest-plaza/pytest_plaza/plugin.py", "clients/pytest-plaza/pytest_plaza/py.typed"],
      ]),
    );
    const known =
      /^(bin|dist|docs|worlds|deploy|spec|conformance\/worlds|clients\/pytest-plaza)\/|^(bench\/|conformance\/)?[A-Z]+(\.md)?$|^package\.json$/;
    expect(files.filter((path) => !known.test(path) || /\.tsx?$/.test(path.replace(".d.ts", "")))).toEqual([]);
    // The folder `dist/` may also contain an executable of about 100 MB.
    expect(files).not.toContain("dist/plaza");
  },
  INSTALL_MS_MAX,
);

test(
  "the targets of its pages' links are in the package",
  async () => {
    const { tarball, files } = await packed();
    const folder = newFolder();
    await run(folder, ["tar", "-xzf", tarball]);
    const dead = files
      .filter((path) => path.endsWith(".md"))
      .flatMap((page) => {
        const at = join(folder, "package", page);
        const links = [...readFileSync(at, "utf8").matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, link = ""]) => link);
        return links.filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(dirname(at), link))).map((link) => `${page}: ${link}`);
      });
    expect(dead).toEqual([]);
  },
  INSTALL_MS_MAX,
);

test(
  "it installs into an empty project without its own scripts, and npx plaza start serves there",
  async () => {
    const consumer = await install((await packed()).tarball);
    const folder = join(consumer, "node_modules/plaza-graph");
    const { scripts, private: isPrivate } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(isPrivate).toBeUndefined();
    for (const hook of ["preinstall", "install", "postinstall", "prepare"]) expect(scripts).not.toHaveProperty(hook);
    // npm has installed Bun in the folder beside the package, as it does for packages that are needed in one version only.
    expect(existsSync(join(consumer, "node_modules/bun"))).toBeTrue();
    const { status, hasConsole, code, stderr } = await startAndAsk(consumer);
    expect({ status, hasConsole, code }).toEqual({ status: 200, hasConsole: true, code: 0 });
    const logged = stderr
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith("npm "));
    expect(logged).not.toEqual([]);
    for (const line of logged) expect(JSON.parse(line)).toHaveProperty("msg");
    expect(existsSync(join(consumer, ".plaza/default.sqlite"))).toBeTrue();
    // bin/plaza finds the same Bun as the package.
    expect(await run(consumer, ["node_modules/plaza-graph/bin/plaza", "--version"])).toMatch(/^\d+\.\d+\.\d+\n$/);

    const { components } = JSON.parse(readFileSync(join(folder, "dist/sbom.cdx.json"), "utf8")) as {
      components: { name: string; version: string }[];
    };
    const notices = readFileSync(join(folder, "dist/third-party-notices.txt"), "utf8");
    for (const { name, version } of components) expect(notices).toContain(`${name} ${version} (`);
    const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { dependencies: Record<string, string> };
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  },
  INSTALL_MS_MAX,
);

test(
  "nothing contains a path of the machine that built it",
  async () => {
    const { tarball } = await packed();
    const folder = newFolder();
    await run(folder, ["tar", "-xzf", tarball]);
    const root = join(import.meta.dir, "../..");
    const files = [...new Bun.Glob("package/**/*").scanSync(folder)];
    expect(files).toEqual(expect.arrayContaining(["package/dist/testing/index.js", "package/dist/testing-cjs/index.js", "package/dist/plaza.js"]));
    expect(files.filter((path) => readFileSync(join(folder, path), "utf8").includes(root))).toEqual([]);
  },
  INSTALL_MS_MAX,
);

test(
  "if npm runs no install scripts at all, it still serves",
  async () => {
    const consumer = await install((await packed()).tarball, { scripts: false });
    expect(await startAndAsk(consumer)).toMatchObject({ status: 200, code: 0 });
  },
  INSTALL_MS_MAX,
);

// Only `npm run prove` runs these tests, because they install about 300 MB of other versions of Node.
if (isProving) {
  for (const [node, npm] of [
    [20, 10],
    [20, 11],
    [22, 10],
    [24, 11],
  ] as const) {
    test(
      `it serves on Node ${node}, installed by npm ${npm}`,
      async () => {
        const tools = newFolder();
        const binaries = `node-${process.platform}-${process.arch}`;
        await run(tools, ["npm", "install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", `${binaries}@${node}`, `npm@${npm}`]);
        const path = pathWith(join(tools, `node_modules/${binaries}/bin`), join(tools, "node_modules/.bin"));
        expect(await run(tools, ["node", "--version"], path)).toStartWith(`v${node}.`);
        expect(await run(tools, ["npm", "--version"], path)).toStartWith(`${npm}.`);
        const consumer = await install((await packed()).tarball, { path });
        const { status, code, stderr } = await startAndAsk(consumer, path);
        expect({ status, code }).toEqual({ status: 200, code: 0 });
        expect(stderr).not.toContain("Warning");
      },
      INSTALL_MS_MAX,
    );
  }
}
