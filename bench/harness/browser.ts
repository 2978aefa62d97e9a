/** Opens the console in a headless browser, and measures how smoothly the console scrolls. */
import { runCleanups } from "#harness/cleanup";
import { openPage } from "#harness/live/browser";
import type { Server } from "./server.ts";

/** A script for the page, which resolves when the first view shows its list and the browser has no work left. */
const INTERACTIVE = `window.interactive = new Promise((resolve) => {
  const look = () => document.querySelector(".main .empty, .main [role=grid]") === null
    ? requestAnimationFrame(look)
    : requestIdleCallback(() => resolve(performance.now()));
  look();
})`;

interface Drawn {
  readonly framesPerSecond: number;
  /** The longest time between two frames. */
  readonly stallMs: number;
}

export interface ConsoleTab {
  evaluate<T>(expression: string): Promise<T>;
  /**
   * Counts the frames that the page draws in this number of seconds. The page runs the script `everyFrame` in each
   * frame.
   */
  draw(seconds: number, everyFrame?: string): Promise<Drawn>;
  /** Ends the browser. */
  close(): Promise<void>;
}

/** Opens the console in a new browser, whose cache is empty. */
export async function openConsoleTab(server: Server, path: string): Promise<ConsoleTab> {
  const { control_url, control_key } = server.ready as Readonly<Record<string, string>>;
  const page = await openPage("about:blank");
  await page.send("Page.addScriptToEvaluateOnNewDocument", { source: INTERACTIVE });
  await page.send("Page.navigate", { url: `${control_url}${path}#key=${encodeURIComponent(control_key as string)}` });
  const evaluate = <T>(expression: string): Promise<T> => page.evaluate<T>(control_url as string, expression);
  return {
    evaluate,
    async draw(seconds, everyFrame = "") {
      const times = await evaluate<number[]>(`new Promise((resolve) => {
        const times = [];
        const frame = (at) => {
          times.push(at);
          ${everyFrame};
          if (at - times[0] < ${seconds * 1_000}) requestAnimationFrame(frame);
          else resolve(times);
        };
        requestAnimationFrame(frame);
      })`);
      const steps = times.slice(1).map((at, i) => at - (times[i] as number));
      const tookMs = (times.at(-1) as number) - (times[0] as number);
      return { framesPerSecond: (1_000 * steps.length) / tookMs, stallMs: Math.max(...steps) };
    },
    close: runCleanups,
  };
}
