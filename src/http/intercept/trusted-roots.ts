/**
 * Writes the certificate files that a command trusts. Most variables replace the root certificates of a program, so each file contains the roots that
 * the program would have used, and the certificate of this run's authority.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";

/** The files of the system's root certificates: on Debian and Alpine, Fedora, openSUSE, and macOS. */
const SYSTEM_FILES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"];

/**
 * The maximum size of a file of root certificates. A file of root certificates has about 250 KB; a file that the user names by mistake must not fill
 * the memory.
 */
const ROOTS_BYTES_MAX = 16 * 1024 * 1024;

function readRoots(file: string): string | undefined {
  try {
    const { size } = statSync(file);
    const text = size <= ROOTS_BYTES_MAX ? readFileSync(file, "utf8") : "";
    return text.includes("-----BEGIN CERTIFICATE-----") ? text : undefined;
  } catch {
    // If the file of root certificates does not exist, is a folder or cannot be read, the user's programs could not use it either.
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

  /**
   * Returns the path of a file with root certificates and the certificate of the authority. The root certificates come from the user's file `own`, or
   * else from the system.
   */
  replacing(own: string | undefined): string {
    return this.#fileOf(own, (own === undefined || own === "" ? undefined : readRoots(own)) ?? this.#system);
  }

  /**
   * Returns the path of a file with the user's own additional root certificates and the certificate of the authority, for a variable that adds root
   * certificates to those of a program.
   */
  adding(own: string | undefined): string {
    return this.#fileOf(`+${own ?? ""}`, own === undefined || own === "" ? "" : (readRoots(own) ?? ""));
  }

  /** Returns the path of a Java trust store with the system's root certificates and the certificate of the authority. */
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

/** The password of the trust store. The store contains no secret, but Java requires a password. */
export const JAVA_STORE_PASSWORD = "changeit";

/**
 * Makes a trust store in the format JKS, which all versions of Java read: a head, the certificates, and a digest with the password. The format is
 * that of OpenJDK's `JavaKeyStore`.
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
  // OpenJDK puts the words Mighty Aphrodite into the digest of every trust store.
  const digest = createHash("sha1").update(Buffer.from(JAVA_STORE_PASSWORD, "utf16le").swap16()).update("Mighty Aphrodite").update(store).digest();
  return Buffer.concat([store, digest]);
}

const JKS_MAGIC = 0xfeedfeed;
const JKS_VERSION = 2;
const TRUSTED_ENTRY = 2;
