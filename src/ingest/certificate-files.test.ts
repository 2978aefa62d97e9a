import { expect, test } from "bun:test";
import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { CertificateFiles } from "./certificate-files.ts";

function filesOf() {
  const folder = temporaryFolder();
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const write = (which: keyof typeof files, text: string, seconds: number): void => {
    writeFileSync(files[which], text);
    utimesSync(files[which], seconds, seconds);
  };
  write("cert", "cert one", 1_000);
  write("key", "key one", 1_000);
  return { files, write };
}

const looks = (certificates: CertificateFiles, count: number) => Array.from({ length: count }, () => certificates.renewed());
const nothing = (count: number): undefined[] => new Array<undefined>(count).fill(undefined);

test("a certificate is read again where one of its files has changed: at every tenth look, and once", () => {
  const { files, write } = filesOf();
  const certificates = new CertificateFiles(files);
  expect(certificates.current).toEqual({ cert: "cert one", key: "key one" });
  expect(looks(certificates, 10)).toEqual(nothing(10));
  write("key", "key two", 2_000);
  expect(looks(certificates, 10)).toEqual([...nothing(9), { cert: "cert one", key: "key two" }]);
  expect(looks(certificates, 10)).toEqual(nothing(10));
  write("cert", "cert two", 500);
  expect(looks(certificates, 11)).toEqual([...nothing(9), { cert: "cert two", key: "key two" }, undefined]);
});

test("files that cannot be read are an error at the start, and later at a look", () => {
  const { files } = filesOf();
  const certificates = new CertificateFiles(files);
  rmSync(files.key);
  expect(looks(certificates, 9)).toEqual(nothing(9));
  expect(() => certificates.renewed()).toThrow("ENOENT");
  expect(() => new CertificateFiles(files)).toThrow("ENOENT");
});

test("without files there is no certificate, and never one", () => {
  const certificates = new CertificateFiles(undefined);
  expect([certificates.current, ...looks(certificates, 20)]).toEqual(nothing(21));
});
