/** A page that came over https may connect over TLS alone. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { receiverCertificate, receiverKey } from "#harness/certificates";
import { openConsole } from "#harness/console/console-page";
import { startTlsProxy } from "#harness/live/tls-proxy";
import { playsUntil } from "#harness/live/viewer";
import { freePort } from "#harness/processes/free-port";
import { type Server, startServer, temporaryFolder } from "#harness/server";

/** A browser that encodes and plays, on a small machine. */
const BROWSER_MS_MAX = 120_000;
/** Nobody trusts the authority of the tests; the names lead nowhere else; and the player's frame, of another name, is looked at from its page. */
const FLAGS = ["--ignore-certificate-errors", "--host-resolver-rules=MAP *.example 127.0.0.1", "--disable-site-isolation-trials"];

/** Broadcasts the drawn picture, until it plays in the preview; and ends the broadcast. */
async function broadcast(server: Server): Promise<void> {
  const page = await openConsole(server, "/live?open=broadcast", server.control_key, FLAGS);
  await page.shows("What it shows");
  await page.click("● Go live");
  await page.shows("on air");
  await playsUntil(page.page, `${server.base_url}/player/`, ({ currentTime }) => currentTime > 1);
  await page.click("■ End the broadcast");
  await page.shows("the broadcast was ended");
  // Until there is something to play, the playlist is a 503.
  expect(page.page.problems.filter((problem) => !problem.includes("503"))).toEqual([]);
}

test(
  "from a console that a server serves over TLS, a broadcast goes to its port for encoders over TLS",
  async () => {
    const folder = temporaryFolder();
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(cert, receiverCertificate);
    writeFileSync(key, receiverKey);
    const server = await startServer(["--rtmp-port", "0", "--rtmps-port", "0", "--tls-cert", cert, "--tls-key", key]);
    expect(server.control_url).toStartWith("https:");
    await broadcast(server);
  },
  BROWSER_MS_MAX,
);

test(
  "where a proxy has the certificate, a broadcast goes to /live of the public address",
  async () => {
    const [graphPort, controlPort] = [freePort(), freePort()];
    const [base_url, control_url] = [`https://graph.example:${graphPort}`, `https://console.example:${controlPort}`];
    const server = await startServer(["--rtmp-port", "0", "--public-url", base_url, "--allow-host", "console.example"]);
    await startTlsProxy({ graphPort, controlPort }, server);
    await broadcast({ ...server, base_url, control_url });
  },
  BROWSER_MS_MAX,
);
