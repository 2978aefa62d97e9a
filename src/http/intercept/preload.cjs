/**
 * Runs in each Node program of `plaza exec --as`, before the program. Node 20 has no proxies for `fetch` and `https`, so this file brings their TLS
 * connections for the named hosts to Plaza. Everything that Node has for TLS calls `tls.connect`: https, fetch, http2, and packages beside them.
 */
"use strict";
const settings = /* SETTINGS */ null;
const http = require("node:http");
const { syncBuiltinESMExports } = require("node:module");
const net = require("node:net");
const { Duplex } = require("node:stream");
const tls = require("node:tls");

const hosts = new Set(settings.hosts);
const nameOf = (host) => String(host).toLowerCase().replace(/\.$/, "");
const isLocal = (name) => name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
const isRefused = (name) => settings.isOnly && !hosts.has(name) && !isLocal(name);

/** Tells the proxy, which keeps the list of refused hosts, and returns the error for the program. */
function refusal(name, port) {
  const proxy = net.connect(settings.proxyPort, "127.0.0.1");
  proxy.on("error", () => {});
  proxy.end(`CONNECT ${name.includes(":") ? `[${name}]` : name}:${port} HTTP/1.1\r\n\r\n`);
  proxy.resume();
  return Object.assign(new Error(`plaza: --only refuses ${name}, because --as does not name it`), { code: "ECONNREFUSED" });
}

const plainRefusal = (name) => Object.assign(new Error(`plaza: ${name} is served over https only`), { code: "ECONNREFUSED" });

function failing(socket, error) {
  process.nextTick(() => socket.destroy(error));
  return socket;
}

/** The options and the callback of `tls.connect(options, callback)` or `tls.connect(port, host, options, callback)`. */
function argumentsOf(args) {
  const callback = args.find((argument) => typeof argument === "function");
  const given = args.find((argument) => typeof argument === "object" && argument !== null) ?? {};
  if (typeof args[0] === "object" && args[0] !== null) return [given, callback];
  return [{ port: args[0], ...(typeof args[1] === "string" ? { host: args[1] } : {}), ...given }, callback];
}

const { connect } = tls;
tls.connect = function connectToHost(...args) {
  const [options, callback] = argumentsOf(args);
  if (options.socket || options.path || !options.host) return connect.apply(this, args);
  const name = nameOf(options.host);
  const servername = options.servername || name;
  if (isRefused(name)) {
    const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
    return failing(connect.call(this, { socket, servername: net.isIP(servername) ? "" : servername }), refusal(name, options.port));
  }
  if (!hosts.has(name)) return connect.apply(this, args);
  const { lookup: _, localAddress: __, ...kept } = options;
  // A program that brings its own roots gets this run's authority as well.
  const ca = options.ca === undefined ? {} : { ca: [options.ca, settings.authority].flat() };
  return connect.call(this, { ...kept, ...ca, servername, host: "127.0.0.1", port: settings.port }, callback);
};

const { createConnection } = http.Agent.prototype;
http.Agent.prototype.createConnection = function createPlainConnection(options, callback) {
  const name = nameOf(options.host ?? "localhost");
  const isPlain = !options.socketPath && !options.path;
  if (isPlain && isRefused(name)) return failing(new net.Socket(), refusal(name, options.port));
  if (isPlain && hosts.has(name)) return failing(new net.Socket(), plainRefusal(name));
  return createConnection.call(this, options, callback);
};

/** fetch of http addresses does not use agents. */
const { fetch } = globalThis;
if (fetch !== undefined) {
  globalThis.fetch = function fetchFromHost(input, init) {
    const url = URL.canParse(input?.url ?? input) ? new URL(input?.url ?? input) : undefined;
    const name = url?.protocol === "http:" ? nameOf(url.hostname.replace(/^\[(.*)\]$/, "$1")) : undefined;
    if (name !== undefined && isRefused(name)) return Promise.reject(new TypeError("fetch failed", { cause: refusal(name, url.port || 80) }));
    if (hosts.has(name)) return Promise.reject(new TypeError("fetch failed", { cause: plainRefusal(name) }));
    return fetch.call(this, input, init);
  };
}
// Programs that import these modules get the changed functions, too.
syncBuiltinESMExports();
