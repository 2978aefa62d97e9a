/** Finds Bun's binary, whether or not npm ran the install script of Bun's package. */
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Bun's package holds a placeholder of a few hundred bytes until its install script has run. */
const BINARY_BYTES_MIN = 1_000_000;

/**
 * Returns the path of the binary in Bun's package, or in Bun's package for this system, from which the install script would copy the
 * binary. Returns undefined if neither package has a binary. `fromHere` is the `require` of a file of Plaza.
 */
export function findBun(fromHere) {
  const folderOf = (require, name) => {
    try {
      return dirname(require.resolve(`${name}/package.json`));
    } catch {
      return undefined;
    }
  };
  const folder = folderOf(fromHere, "bun");
  if (folder === undefined) return undefined;
  const system = { win32: "windows" }[process.platform] ?? process.platform;
  const processor = { arm64: "aarch64" }[process.arch] ?? process.arch;
  const fromBun = createRequire(join(folder, "package.json"));
  const own = ["", "-musl"].map((libc) => folderOf(fromBun, `@oven/bun-${system}-${processor}${libc}`)).filter((found) => found !== undefined);
  const candidates = [join(folder, "bin/bun.exe"), ...own.map((found) => join(found, system === "windows" ? "bin/bun.exe" : "bin/bun"))];
  return candidates.find((path) => existsSync(path) && statSync(path).size >= BINARY_BYTES_MIN);
}
