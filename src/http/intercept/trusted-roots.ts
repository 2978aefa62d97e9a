/**
 * Writes the files of certificates that a command trusts. Most variables replace a program's roots, so each file has the roots that the program
 * would have used, and the authority of this run.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";

/** The roots of the system: Debian and Alpine, Fedora, openSUSE, and macOS. */
const SYSTEM_FILES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"];

/** The files of roots have about 250 KB; a file that somebody names by mistake must not fill the memory. */
const ROOTS_BYTES_MAX = 16 * 1024 * 1024;

function readRoots(file: string): string | undefined {
  try {
    const { size } = statSync(file);
    const text = size <= ROOTS_BYTES_MAX ? readFileSync(file, "utf8") : "";
    return text.includes("-----BEGIN CERTIFICATE-----") ? text : undefined;
  } catch {
    // The file does not exist, is a folder, or cannot be read: programs of the user could not use it either.
    return undefined;
  }
}

const systemRoots = (): string => SYSTEM_FILES.map(readRoots).find((roots) => roots !== undefined) ?? rootCertificates.join("\n");

export class TrustedRoots {
  readonly #folder: string;
  readonly #authority: string;
  readonly #system = systemRoots();
  readonly #files = new Map<string, string>();

  /** `authority` is the certificate of this run's authority, in PEM. */
  constructor(folder: string, authority: string) {
    this.#folder = folder;
    this.#authority = authority;
  }

  /** The path of a file with the user's own roots, or else the system's, and the authority. `own` is the user's file. */
  replacing(own: string | undefined): string {
    return this.#fileOf(own, (own === undefined || own === "" ? undefined : readRoots(own)) ?? this.#system);
  }

  /** The path of a file with the user's own further roots and the authority, for a variable that adds to a program's roots. */
  adding(own: string | undefined): string {
    return this.#fileOf(`+${own ?? ""}`, own === undefined || own === "" ? "" : (readRoots(own) ?? ""));
  }

  /** The path of the system's roots and the authority as a trust store of Java. */
  forJava(): string {
    const path = join(this.#folder, "roots.jks");
    writeFileSync(path, javaTrustStore(certificatesIn(`${this.#system}\n${this.#authority}`)));
    return path;
  }

  #fileOf(key: string | undefined, roots: string): string {
    const name = key ?? "";
    let path = this.#files.get(name);
    if (path === undefined) {
      path = join(this.#folder, `roots-${this.#files.size + 1}.pem`);
      writeFileSync(path, `${roots.trimEnd()}\n${this.#authority}`.trimStart());
      this.#files.set(name, path);
    }
    return path;
  }
}

const certificatesIn = (pem: string): Buffer[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g)].map(([, text = ""]) => Buffer.from(text, "base64"));

/** The password of the store, which contains nothing secret; Java asks for one. */
export const JAVA_STORE_PASSWORD = "changeit";

/**
 * A trust store in the format JKS, which all versions of Java read: a head, the certificates, and a digest with the password. The format is that of
 * OpenJDK's `JavaKeyStore`.
 */
export function javaTrustStore(certificates: readonly Buffer[]): Buffer {
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const text = (value: string): Buffer => Buffer.concat([number(value.length).subarray(2), Buffer.from(value)]);
  const entries = certificates.flatMap((certificate, at) => [
    ...[number(TRUSTED_ENTRY), text(`root-${at}`), Buffer.alloc(8), text("X.509"), number(certificate.length), certificate],
  ]);
  const store = Buffer.concat([number(JKS_MAGIC), number(JKS_VERSION), number(certificates.length), ...entries]);
  // OpenJDK whitens the digest with these words.
  const digest = createHash("sha1").update(Buffer.from(JAVA_STORE_PASSWORD, "utf16le").swap16()).update("Mighty Aphrodite").update(store).digest();
  return Buffer.concat([store, digest]);
}

const JKS_MAGIC = 0xfeedfeed;
const JKS_VERSION = 2;
const TRUSTED_ENTRY = 2;
