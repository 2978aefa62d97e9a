/** Records the output of a command that runs in the process of its test. */
import { spyOn } from "bun:test";
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
