/** Tests which certificate the listeners serve while the certificate's files are renewed one after the other. */
import { expect, spyOn, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { receiverCertificate, receiverKey, renewedCertificate, renewedKey } from "#harness/certificates";
import { afterThisTest } from "#harness/cleanup";
import { temporaryFolder } from "#harness/server";
import { Certificate } from "../certificate.ts";
import { ConfigProblem } from "../config.ts";

function files(cert = receiverCertificate, key = receiverKey) {
  const folder = temporaryFolder();
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return { certFile, keyFile };
}

/** Records the calls of the observer, and each certificate that comes into use. */
function followed(certificate: Certificate) {
  const heard: string[] = [];
  certificate.onRenewed(({ cert }) => heard.push(cert === renewedCertificate ? "the renewed one is used" : "another one is used"));
  const observer = {
    renewed: (validTo: string) => heard.push(`renewed until ${new Date(validTo).getUTCFullYear()}`),
    unusable: (problem: string) => heard.push(problem),
  };
  return { observer, heard, check: () => certificate.check(observer) };
}

test("a certificate needs both files, in PEM, and its own key", () => {
  const { certFile, keyFile } = files();
  expect(new Certificate(certFile, keyFile).current).toEqual({ cert: receiverCertificate, key: receiverKey });
  const problemOf = (cert: string, key: string): string => {
    try {
      new Certificate(cert, key);
      return "";
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigProblem);
      return (error as Error).message;
    }
  };
  expect(problemOf(`${certFile}.none`, keyFile)).toMatch(/^--tls-cert: ENOENT/);
  expect(problemOf(certFile, `${keyFile}.none`)).toMatch(/^--tls-key: ENOENT/);
  expect(problemOf(keyFile, keyFile)).toBe(`--tls-cert: ${keyFile} contains no certificate in PEM`);
  expect(problemOf(certFile, certFile)).toBe(`--tls-key: ${certFile} contains no private key in PEM without a passphrase`);
  const other = files(receiverCertificate, renewedKey);
  expect(problemOf(other.certFile, other.keyFile)).toBe(`--tls-key: ${other.keyFile} is not the key of the certificate in ${other.certFile}`);
});

test("a renewed certificate is used when both files have been written; until then the old one stays, and the reason is logged once", () => {
  const { certFile, keyFile } = files();
  const certificate = new Certificate(certFile, keyFile);
  const { heard, check } = followed(certificate);
  check();
  expect(heard).toEqual([]);
  writeFileSync(certFile, renewedCertificate);
  check();
  check();
  const mixed = `--tls-key: ${keyFile} is not the key of the certificate in ${certFile}`;
  expect(heard).toEqual([mixed]);
  expect(certificate.current.cert).toBe(receiverCertificate);
  writeFileSync(keyFile, renewedKey);
  check();
  check();
  expect(heard.slice(1)).toEqual(["the renewed one is used", "renewed until 2126"]);
  expect(certificate.current).toEqual({ cert: renewedCertificate, key: renewedKey });
  // If a problem with the certificate ends and the same problem occurs later, the problem is reported again.
  writeFileSync(keyFile, receiverKey);
  check();
  expect(heard.slice(3)).toEqual([mixed]);
  rmSync(keyFile);
  check();
  expect(heard.slice(4)).toEqual([expect.stringContaining("ENOENT")]);
});

test("a key that is written in another form is used, too", () => {
  const { certFile, keyFile } = files();
  const certificate = new Certificate(certFile, keyFile);
  const { heard, check } = followed(certificate);
  writeFileSync(keyFile, `${receiverKey}\n`);
  check();
  expect(heard).toEqual(["another one is used", "renewed until 2126"]);
  expect(certificate.current.key).toBe(`${receiverKey}\n`);
});

test("the files are checked until the certificate is closed, which does not keep the program running", () => {
  const { certFile, keyFile } = files();
  const certificate = new Certificate(certFile, keyFile);
  const { heard, observer } = followed(certificate);
  const timers: { look: () => void; everyMs: number | undefined; isUnreferenced: boolean }[] = [];
  const started = spyOn(globalThis, "setInterval").mockImplementation(((look: () => void, everyMs?: number) => {
    const timer = { look, everyMs, isUnreferenced: false };
    timers.push(timer);
    return Object.assign(timer, { unref: () => Object.assign(timer, { isUnreferenced: true }) });
  }) as unknown as typeof setInterval);
  const cleared = spyOn(globalThis, "clearInterval").mockImplementation(() => {});
  for (const spy of [started, cleared]) afterThisTest(() => spy.mockRestore());
  certificate.follow(observer);
  // The server notices a renewal of the certificate after five seconds at the latest.
  expect(timers).toMatchObject([{ everyMs: 5_000, isUnreferenced: true }]);
  writeFileSync(certFile, renewedCertificate);
  writeFileSync(keyFile, renewedKey);
  timers[0]?.look();
  expect(heard).toContain("the renewed one is used");
  certificate.close();
  expect(cleared).toHaveBeenCalledWith(timers[0]);
});
