/** nginx with a certificate in front of a server that has none: for the graph with its WebSocket of pages that publish, and for the control API. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { receiverCertificate, receiverKey } from "../certificates.ts";
import { needs } from "../processes/needs.ts";
import { runProxy } from "../processes/run-proxy.ts";
import { type Server, temporaryFolder } from "../server.ts";

needs("nginx");

interface TlsProxy {
  readonly graphPort: number;
  readonly controlPort: number;
}

const headers = "proxy_http_version 1.1; proxy_set_header Host $http_host;";
/** As docs/guides/live-from-a-page.md tells operators. */
const upgrade = "proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;";

const portOf = (url: string): string => new URL(url).port;

/** Resolves when it accepts connections. */
export async function startTlsProxy({ graphPort, controlPort }: TlsProxy, { base_url, control_url, rtmp_url }: Server): Promise<void> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "body"));
  writeFileSync(join(folder, "cert.pem"), receiverCertificate);
  writeFileSync(join(folder, "key.pem"), receiverKey);
  const log = join(folder, "error.log");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  const config = `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${log};
events { worker_connections 1024; }
http { access_log off; ${paths} ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
  server { listen 127.0.0.1:${graphPort} ssl;
    location / { proxy_pass http://127.0.0.1:${portOf(base_url)}; ${headers} }
    location = /live { proxy_pass http://127.0.0.1:${portOf(rtmp_url?.replace("rtmp:", "http:") ?? "")}; ${headers} ${upgrade} } }
  server { listen 127.0.0.1:${controlPort} ssl; location / { proxy_pass http://127.0.0.1:${portOf(control_url)}; ${headers} proxy_buffering off; } }
}
`;
  const file = join(folder, "nginx.conf");
  writeFileSync(file, config);
  const command = ["nginx", "-p", folder, "-c", file, "-e", log];
  await runProxy("nginx", command, controlPort);
}
