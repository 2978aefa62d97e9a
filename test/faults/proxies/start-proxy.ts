/** Starts nginx or HAProxy in front of a server, as a process of the test, with its own configuration on a free port. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "#harness/processes/free-port";
import { runProxy } from "#harness/processes/run-proxy";
import { temporaryFolder } from "#harness/server";

export type ProxyName = "nginx" | "haproxy";
export const proxyNames: readonly ProxyName[] = ["nginx", "haproxy"];

/**
 * The configuration in docs/operating/network.md, with other ports and folders. `scheme` is the scheme that a proxy reports to the server if the
 * proxy terminates TLS.
 */
const nginxConf = (folder: string, port: number, upstream: string): string => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  ${nginxFolders(folder)}
  upstream plaza { server ${upstream}; keepalive 16; }
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 100000;
    location / {
      proxy_pass http://plaza;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto https;
      proxy_request_buffering off;
    }
  }
}
`;

const haproxyCfg = (port: number, upstream: string): string => `
global
  maxconn 1024
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse safe
frontend clients
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-For %[src]
  http-request set-header X-Forwarded-Proto https
  default_backend plaza
backend plaza
  server plaza ${upstream}
`;

/** Starts a proxy. The promise resolves with the proxy's port as soon as the proxy accepts connections. `upstream` is the server's `host:port`. */
export async function startProxy(name: ProxyName, upstream: string): Promise<number> {
  const [folder, port] = [temporaryFolder(), freePort()];
  const file = join(folder, `${name}.conf`);
  mkdirSync(join(folder, "body"));
  writeFileSync(file, name === "nginx" ? nginxConf(folder, port, upstream) : haproxyCfg(port, upstream));
  const command = name === "nginx" ? ["nginx", "-p", folder, "-c", file, "-e", join(folder, "error.log")] : ["haproxy", "-db", "-f", file];
  await runProxy(name, command, port);
  return port;
}

const DEPLOY = join(import.meta.dir, "../../../deploy/proxies");

export interface TwoServersProxy {
  readonly url: string;
  /** Removes a server from the proxy's list before the server ends, and adds it again when it serves requests, as deploy/proxies/README.md says. */
  take(server: "out" | "in", address: string): Promise<void>;
}

/** Starts nginx or HAProxy with the files of deploy/proxies, on other ports and without TLS. `servers` are two addresses, each `host:port`. */
export const startDeployed = (name: ProxyName, servers: readonly [string, string]): Promise<TwoServersProxy> =>
  name === "nginx" ? deployedNginx(servers) : deployedHaproxy(servers);

async function deployedHaproxy([PLAZA_ONE, PLAZA_TWO]: readonly [string, string]): Promise<TwoServersProxy> {
  const port = freePort();
  const environment = { PROXY_LISTEN: `127.0.0.1:${port}`, PLAZA_ONE, PLAZA_TWO };
  await runProxy("haproxy", ["haproxy", "-db", "-f", join(DEPLOY, "haproxy.cfg")], port, environment);
  return { url: `http://127.0.0.1:${port}`, take: async () => {} };
}

async function deployedNginx(servers: readonly [string, string]): Promise<TwoServersProxy> {
  const [folder, port] = [temporaryFolder(), freePort()];
  const list = join(folder, "plaza-servers");
  const conf = readFileSync(join(DEPLOY, "nginx.conf"), "utf8")
    .replace("/etc/nginx/plaza-servers", list)
    .replace("listen 443 ssl", `listen 127.0.0.1:${port}`)
    .replaceAll(/ssl_certificate.*\n/g, "");
  const file = join(folder, "nginx.conf");
  writeFileSync(
    file,
    `user root; daemon off; pid ${folder}/nginx.pid; events { worker_connections 1024; } http { access_log off; ${nginxFolders(folder)} ${conf} }`,
  );
  const shipped = readFileSync(join(DEPLOY, "plaza-servers"), "utf8");
  writeFileSync(list, shipped.replace("10.0.0.1:4000", servers[0]).replace("10.0.0.2:4000", servers[1]));
  mkdirSync(join(folder, "body"));
  const command = ["nginx", "-p", folder, "-c", file, "-e", join(folder, "error.log")];
  await runProxy("nginx", command, port);
  const take: TwoServersProxy["take"] = async (server, address) => {
    const [from, to] = server === "out" ? [";", " down;"] : [" down;", ";"];
    const lines = readFileSync(list, "utf8").split("\n");
    writeFileSync(list, lines.map((line) => (line.includes(address) ? line.replace(from, to) : line)).join("\n"));
    const reload = Bun.spawn([...command, "-s", "reload"], { stdio: ["ignore", "ignore", "pipe"], env: { PATH: `${process.env.PATH}:/usr/sbin` } });
    if ((await reload.exited) !== 0) throw new Error(await new Response(reload.stderr).text());
  };
  return { url: `http://127.0.0.1:${port}`, take };
}

const nginxFolders = (folder: string): string =>
  `client_body_temp_path ${folder}/body; ${["proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}`;
