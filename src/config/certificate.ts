/**
 * The certificate of the listeners, from the files of `--tls-cert` and `--tls-key`. The server reads the certificate's files again after they are
 * renewed.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { ConfigProblem } from "./config.ts";

/**
 * The interval at which the server reads the files to see whether they were renewed. Operators renew a certificate days before it expires, so a few
 * seconds do not matter, and reading two small files costs almost nothing.
 */
const CHECK_EVERY_MS = 5_000;

/**
 * D-353: the ciphers for TLS 1.2 whose key exchange has forward secrecy, so that somebody who steals the key cannot decrypt earlier traffic. All
 * ciphers of TLS 1.3 have forward secrecy. The runtime refuses older versions of TLS.
 */
export const TLS_CIPHERS = ["ECDSA", "RSA"]
  .flatMap((key) => ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].map((cipher) => `ECDHE-${key}-${cipher}`))
  .join(":");

/** A certificate and its private key in PEM. In `cert`, the certificates of the authorities may follow the server's own certificate. */
export interface CertificateAndKey {
  readonly cert: string;
  readonly key: string;
}

/** The certificate that a listener gives to new connections. */
export interface ServedCertificate {
  readonly current: CertificateAndKey;
}

export interface CertificateObserver {
  /** Called when a renewed certificate is in use. `validTo` is the certificate's last valid day. */
  renewed(validTo: string): void;
  /**
   * Called if the renewed files cannot be used, so that the server continues with the earlier certificate. Each problem with the files is reported
   * only once.
   */
  unusable(problem: string): void;
}

export class Certificate implements ServedCertificate {
  readonly #certFile: string;
  readonly #keyFile: string;
  readonly #users: ((pair: CertificateAndKey) => void)[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #problem: string | undefined;
  #current: CertificateAndKey;

  /** Reads the files. Throws `ConfigProblem` if a file cannot be read or is not PEM, or if the key belongs to another certificate. */
  constructor(certFile: string, keyFile: string) {
    this.#certFile = certFile;
    this.#keyFile = keyFile;
    this.#current = read(certFile, keyFile);
  }

  get current(): CertificateAndKey {
    return this.#current;
  }

  /** Registers the function `use`, which is called with each certificate that replaces the current certificate. */
  onRenewed(use: (pair: CertificateAndKey) => void): void {
    this.#users.push(use);
  }

  follow(observer: CertificateObserver): void {
    // The files are checked by a timer, because file system events do not report a replaced file on every file system, or behind a link.
    this.#timer = setInterval(() => this.check(observer), CHECK_EVERY_MS);
    this.#timer.unref();
  }

  /**
   * Reads the files of the certificate again. If only one of the two files is renewed yet, certificate and key do not match; a later check finds both
   * files renewed.
   */
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
