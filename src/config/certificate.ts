/** The certificate of the listeners, from the files of `--tls-cert` and `--tls-key`. Renewed files are read again. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { ConfigProblem } from "./config.ts";

/** A renewed file is noticed after this time at most. Certificates are renewed days ahead, and two small files cost nothing to read. */
const CHECK_EVERY_MS = 5_000;

/**
 * D-353: key exchanges with forward secrecy, so that whoever gets the key later cannot read what was recorded before. TLS 1.3 has no others; of
 * TLS 1.2 these are left, and older versions are refused by the runtime.
 */
export const TLS_CIPHERS = ["ECDSA", "RSA"]
  .flatMap((key) => ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].map((cipher) => `ECDHE-${key}-${cipher}`))
  .join(":");

/** PEM. `cert` may be followed by the certificates of its authorities. */
export interface CertificateAndKey {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateObserver {
  /** `validTo` is the day until which the new certificate is valid. */
  renewed(validTo: string): void;
  /** The files cannot be used, so the certificate before them stays. Called once for the same problem. */
  unusable(problem: string): void;
}

export class Certificate {
  readonly #certFile: string;
  readonly #keyFile: string;
  readonly #users: ((pair: CertificateAndKey) => void)[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #problem: string | undefined;
  #current: CertificateAndKey;

  /** Throws `ConfigProblem`: a file that cannot be read, that is not PEM, or a key of another certificate. */
  constructor(certFile: string, keyFile: string) {
    this.#certFile = certFile;
    this.#keyFile = keyFile;
    this.#current = read(certFile, keyFile);
  }

  get current(): CertificateAndKey {
    return this.#current;
  }

  /** `use` is called with each certificate that replaces the current one. */
  onRenewed(use: (pair: CertificateAndKey) => void): void {
    this.#users.push(use);
  }

  follow(observer: CertificateObserver): void {
    // A timer, because nothing else notices on every file system, also through links, that a file was replaced.
    this.#timer = setInterval(() => this.check(observer), CHECK_EVERY_MS);
    this.#timer.unref();
  }

  /** Reads the files again. While only one of them is written they do not belong together; the next check reads them again. */
  check(observer: CertificateObserver): void {
    try {
      const pair = read(this.#certFile, this.#keyFile);
      this.#problem = undefined;
      if (pair.cert === this.#current.cert && pair.key === this.#current.key) return;
      this.#current = pair;
      for (const use of this.#users) use(pair);
      observer.renewed(new X509Certificate(pair.cert).validTo);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (problem !== this.#problem) observer.unusable(problem);
      this.#problem = problem;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function read(certFile: string, keyFile: string): CertificateAndKey {
  const cert = textOf("--tls-cert", certFile);
  const key = textOf("--tls-key", keyFile);
  const certificate = parsed("--tls-cert", `${certFile} contains no certificate in PEM`, () => new X509Certificate(cert));
  const privateKey = parsed("--tls-key", `${keyFile} contains no private key in PEM without a passphrase`, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) throw new ConfigProblem("--tls-key", `${keyFile} is not the key of the certificate in ${certFile}`);
  return { cert, key };
}

function textOf(option: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigProblem(option, error instanceof Error ? error.message : String(error));
  }
}

function parsed<T>(option: string, problem: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new ConfigProblem(option, problem);
  }
}
