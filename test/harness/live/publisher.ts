/** A page that publishes: a drawn picture and a tone, encoded by the browser, sent with Plaza's own script. */
import { afterThisTest } from "../cleanup.ts";
import { openPage, type Page } from "./browser.ts";
import type { Studio } from "./studio.ts";

export class PublisherPage {
  readonly page: Page;
  readonly address: string;
  constructor(page: Page, address: string) {
    this.page = page;
    this.address = address;
  }

  /** A new picture of this size, and a stream of it. Fields of `options` are those of the script. */
  start(size: { readonly width: number; readonly height: number }, options: Readonly<Record<string, unknown>>): Promise<void> {
    return this.page.evaluate(this.address, `start(${JSON.stringify(size)}, ${JSON.stringify(options)})`);
  }

  /** The page makes no sound any more, not even silence, or makes it again. */
  setSounding(isSounding: boolean): Promise<void> {
    return this.page.evaluate(this.address, `sound.${isSounding ? "resume" : "suspend"}()`);
  }

  stop(): Promise<void> {
    return this.page.evaluate(this.address, "publisher.stop()");
  }

  /** Resolves with all states so far once the last of them fits. */
  statesUntil(fits: (last: string) => boolean): Promise<string[]> {
    return this.page.evaluateUntil<string[]>(this.address, "states", (states) => fits(states.at(-1) ?? ""));
  }
}

const html = (base: string): string => `<!doctype html><title>Publisher</title><canvas></canvas><script type="module">
import { publishLive } from "${base}/player/publisher.js";
const canvas = document.querySelector("canvas");
const context = window.sound = new AudioContext();
const tone = context.createOscillator();
const output = context.createMediaStreamDestination();
tone.connect(output);
tone.start();
window.states = [];
window.start = async ({ width, height }, options) => {
  await context.resume();
  Object.assign(canvas, { width, height });
  const pen = canvas.getContext("2d");
  let count = 0;
  clearInterval(window.drawing);
  window.drawing = setInterval(() => {
    pen.fillStyle = "hsl(" + (count * 5) % 360 + " 70% 45%)";
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = "white";
    pen.font = "48px sans-serif";
    pen.fillText(count++, 20, height / 2);
  }, 66);
  const stream = new MediaStream([...canvas.captureStream(15).getTracks(), ...output.stream.getTracks()]);
  const onState = (state, reason) => states.push(reason ? state + ": " + reason : state);
  window.publisher = publishLive({ stream, onState, ...options });
};
window.isReady = true;
</script>`;

export async function openPublisher({ server }: Studio): Promise<PublisherPage> {
  const site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(html(server.base_url), { headers: { "content-type": "text/html" } }),
  });
  afterThisTest(() => site.stop(true));
  const address = `http://127.0.0.1:${site.port}/`;
  const page = await openPage(address);
  await page.evaluateUntil<boolean>(address, "window.isReady === true", (isReady) => isReady);
  return new PublisherPage(page, address);
}
