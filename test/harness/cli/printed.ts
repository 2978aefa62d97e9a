/** Records the output of a command that runs in the process of its test. */
import { expect, spyOn } from "bun:test";
import Ajv2020 from "ajv/dist/2020";
import { printedJson } from "#cli/terminal/printed-json";
import { afterThisTest } from "../cleanup.ts";

/** Records everything that is written from this call to the end of the test. */
export function written() {
  const streams = { out: "", err: "" };
  for (const [name, stream] of [
    ["out", process.stdout],
    ["err", process.stderr],
  ] as const) {
    const spy = spyOn(stream, "write").mockImplementation((text) => {
      streams[name] += String(text);
      return true;
    });
    afterThisTest(() => spy.mockRestore());
  }
  return streams;
}

/** The JSON that a command printed. The function fails if the documentation of the command describes other JSON. */
export function printedBy(command: keyof typeof printedJson, line: string): unknown {
  const json: unknown = JSON.parse(line);
  const ajv = new Ajv2020({ strict: false }).addFormat("uri", URL.canParse);
  const isDescribed = ajv.validate(closed(printedJson[command]) as object, json);
  expect({ command, json, errors: isDescribed ? [] : ajv.errors }).toEqual({ command, json, errors: [] });
  return json;
}

/** The JSON schema, which allows no properties that it does not name. */
const closed = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (_, value: { type?: unknown } | null) =>
    value?.type === "object" ? { ...value, additionalProperties: false } : value,
  );
