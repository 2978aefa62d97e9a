import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../steps.ts";
import { pages } from "./pages.ts";

test.each(Object.entries(pages))("%s matches the code", (path, write) => {
  const written = readFileSync(join(ROOT, path), "utf8").split("\n");
  const said = write().split("\n");
  const differ = said.findIndex((line, at) => line !== written[at]);
  expect({ length: said.length, line: differ + 1, text: said[differ] }).toEqual({ length: written.length, line: 0, text: undefined });
});
