/** nginx and HAProxy in front of a server, each a process of the test with a configuration of its own on a free port. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "#harness/processes/free-port";
import { runProxy } from "#harness/processes/run-proxy";
import { temporaryFolder } from "#harness/server";

export type ProxyName = "nginx" | "haproxy";
export const proxyNames: readonly ProxyName[] = ["nginx", "haproxy"];

/** The configuration in docs/operating/network.md, with other ports and folders. The scheme is the one that a proxy reports when it terminates TLS. */
const nginxConf = (folder: string, port: number, upstream: string): string => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
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

/** Resolves with the proxy's port when it accepts connections. `upstream` is the server's `host:port`. */
export async function startProxy(name: ProxyName, upstream: string): Promise<number> {
  const [folder, port] = [temporaryFolder(), freePort()];
  const file = join(folder, `${name}.conf`);
  mkdirSync(join(folder, "body"));
  writeFileSync(file, name === "nginx" ? nginxConf(folder, port, upstream) : haproxyCfg(port, upstream));
  const command = name === "nginx" ? ["nginx", "-p", folder, "-c", file, "-e", join(folder, "error.log")] : ["haproxy", "-db", "-f", file];
  await runProxy(name, command, port);
  return port;
}
