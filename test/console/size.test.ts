import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The greatest size of the compressed scripts that the first view loads. The limit is the size that the scripts had before the first view got icons,
 * names and forms.
 */
const FIRST_VIEW_BYTES_MAX = 129_000;

type Pack = Readonly<Record<string, { readonly type: string; readonly body: string }>>;

test("the first view loads at most 129 kB of compressed script", () => {
  const pack = JSON.parse(readFileSync(join(import.meta.dir, "../../console/dist/console.pack"), "utf8")) as Pack;
  const bytesOf = (path: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(pack[path]?.body ?? "", "base64"));
  const textOf = (path: string): string => new TextDecoder().decode(Bun.gunzipSync(bytesOf(path)));
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    // The files that the browser loads only on demand are named in `import("…")`.
    for (const [, next = ""] of textOf(path).matchAll(/(?:from|import)\s*"\/([^"]+\.js)"/g)) load(next);
  };
  const [, entry = ""] = /<script type="module" src="\/([^"]+)"/.exec(textOf("index.html")) ?? [];
  load(entry);
  const bytes = [...loaded].reduce((sum, path) => sum + bytesOf(path).length, 0);
  expect({ files: loaded.size > 0, bytes, isSmall: bytes <= FIRST_VIEW_BYTES_MAX }).toMatchObject({ files: true, isSmall: true });
  expect(bytes).toBeGreaterThan(50_000);
});
