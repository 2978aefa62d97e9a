/**
 * `plaza check-data`: the process that reads the files of worlds to find damage. The process can be ended at any time. Only `data-check.ts` starts
 * it.
 */
import type { CheckedFile } from "#data-check";
import { problemOfWorldFile } from "#storage/open";

export function checkData(): Promise<number> {
  return new Promise((resolve) => {
    if (process.send === undefined) {
      process.stderr.write("plaza: check-data is started only by other commands of plaza\n");
      resolve(1);
      return;
    }
    const answer = (checked: CheckedFile): void => void process.send?.(checked);
    process.once("message", async (files: readonly string[]) => {
      for (const file of files) answer({ file, problem: await problemOfWorldFile(file, "content") });
      process.disconnect?.();
      resolve(0);
    });
    process.once("disconnect", () => resolve(0));
  });
}
