import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authority, receiverCertificate } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { JAVA_STORE_PASSWORD, javaTrustStore } from "./trusted-roots.ts";
import { interceptionVariables } from "./variables.ts";

function variables(given: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "plaza-variables-"));
  afterThisTest(() => rmSync(folder, { recursive: true }));
  const own = join(folder, "own.pem");
  writeFileSync(own, receiverCertificate);
  const by = { folder, authority, hostnames: ["graph.example.com"], port: 1, proxyPort: 2, isOnly: false };
  const named = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value === "OWN" ? own : value]));
  return { folder, own, made: interceptionVariables(by, named) };
}
const contentOf = (path: string | undefined): string => readFileSync(path ?? "", "utf8");

test("a file that replaces roots has the system's roots, or the user's own, and the authority; one that adds roots has only the user's own", () => {
  const { made } = variables();
  const roots = contentOf(made.SSL_CERT_FILE);
  expect(roots.split("BEGIN CERTIFICATE").length).toBeGreaterThan(50);
  expect(roots).toEndWith(authority);
  expect([made.REQUESTS_CA_BUNDLE, made.CURL_CA_BUNDLE]).toEqual([String(made.SSL_CERT_FILE), String(made.SSL_CERT_FILE)]);
  expect([contentOf(made.NODE_EXTRA_CA_CERTS), contentOf(made.PLAZA_CA_FILE)]).toEqual([authority, authority]);
  const own = variables({ REQUESTS_CA_BUNDLE: "OWN", NODE_EXTRA_CA_CERTS: "OWN", CURL_CA_BUNDLE: "/missing.pem" }).made;
  expect(contentOf(own.REQUESTS_CA_BUNDLE)).toBe(`${receiverCertificate.trimEnd()}\n${authority}`);
  expect(contentOf(own.NODE_EXTRA_CA_CERTS)).toBe(`${receiverCertificate.trimEnd()}\n${authority}`);
  expect(contentOf(own.CURL_CA_BUNDLE)).toBe(roots);
  expect(contentOf(own.PLAZA_CA_FILE)).toBe(authority);
});

test("options that a program has already are kept, and no variable lets a named host pass by", () => {
  const { made, folder } = variables({ NODE_OPTIONS: "--no-warnings", JAVA_TOOL_OPTIONS: "-Xmx1g", PHP_INI_SCAN_DIR: "/own", NO_PROXY: "*" });
  expect(made.NODE_OPTIONS).toBe(`--no-warnings --require ${folder}/preload.cjs`);
  expect(made.JAVA_TOOL_OPTIONS).toStartWith("-Xmx1g -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=2 ");
  expect(made.PHP_INI_SCAN_DIR).toBe(`/own:${folder}/php`);
  expect(made.NO_PROXY).toBe("localhost,127.0.0.1,::1,.localhost");
  expect([made.https_proxy, made.HTTPS_PROXY, made.PLAZA_PROXY_URL]).toEqual(Array(3).fill("http://127.0.0.1:2"));
});

test("Java's trust store has the certificates and the digest of OpenJDK", () => {
  const store = javaTrustStore([Buffer.from("abc")]);
  expect(store.subarray(0, 12).toString("hex")).toBe("feedfeed0000000200000001");
  expect(store.includes("root-0")).toBeTrue();
  const hash = new Bun.CryptoHasher("sha1").update([...JAVA_STORE_PASSWORD].map((letter) => `\0${letter}`).join("")).update("Mighty Aphrodite");
  expect(store.subarray(-20)).toEqual(hash.update(store.subarray(0, -20)).digest() as Buffer);
});
