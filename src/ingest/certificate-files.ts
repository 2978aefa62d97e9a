/** The certificate of RTMPS and its key, read again when their files change. */
import { readFileSync, statSync } from "node:fs";
import type { Certificate } from "./rtmp-port.ts";

/** A look at two files costs microseconds; renewals come every few weeks. */
const LOOK_EVERY = 10;

export class CertificateFiles {
  readonly #files: { readonly cert: string; readonly key: string } | undefined;
  #version = "";
  #asked = 0;
  readonly current: Certificate | undefined;

  /** Throws where a file cannot be read. Undefined: there is no certificate. */
  constructor(files: { readonly cert: string; readonly key: string } | undefined) {
    this.#files = files;
    if (files === undefined) return;
    this.#version = versionOf(files);
    this.current = readCertificate(files);
  }

  /** Asked once a second. The new certificate, if there is one. Throws where it cannot be read. */
  renewed(): Certificate | undefined {
    if (this.#files === undefined || ++this.#asked % LOOK_EVERY !== 0) return undefined;
    const version = versionOf(this.#files);
    if (version === this.#version) return undefined;
    this.#version = version;
    return readCertificate(this.#files);
  }
}

const versionOf = ({ cert, key }: { readonly cert: string; readonly key: string }): string => `${statSync(cert).mtimeMs} ${statSync(key).mtimeMs}`;

const readCertificate = ({ cert, key }: { readonly cert: string; readonly key: string }): Certificate => ({
  cert: readFileSync(cert, "utf8"),
  key: readFileSync(key, "utf8"),
});
