/** Sets the environment of a command that runs in the process of its test. */
import { afterThisTest } from "../cleanup.ts";

/** Sets environment variables until the end of the test. The value undefined removes a variable. */
export function variables(changed: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(changed)) {
    const before = process.env[name];
    afterThisTest(() => set(name, before));
    set(name, value);
  }
}

function set(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
