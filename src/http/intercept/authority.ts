/**
 * The certificate authority of one run. The authority signs a certificate for the hosts for which Plaza responds instead of the real servers (D-380).
 * The authority's key exists only in this process's memory.
 */
import { generateKeyPairSync } from "node:crypto";
import forge from "node-forge";
import type { CertificateAndKey } from "#config/certificate";

/** The size of the keys in bits. Every client accepts keys of this size. A run makes two keys, which takes a tenth of a second. */
const KEY_BITS = 2048;
/**
 * A certificate is valid from one day before the run, because clocks of containers may be some minutes behind, until 90 days after its start, because
 * a server may run for weeks.
 */
const DAY_MS = 24 * 3_600_000;
const VALID_DAYS = 90;
/** A serial number must be positive and have 20 bytes at most (RFC 5280, 4.1.2.2). */
const SERIAL_BYTES = 16;

export interface Authority {
  /** The authority's certificate in PEM. Clients have to trust the authority's certificate. */
  readonly certificate: string;
  /** The certificate for all intercepted hosts, and the key of this certificate. */
  readonly ofHosts: CertificateAndKey;
}

/**
 * Makes an authority, and a certificate for the given host names. `nowMs` is the machine's time, because clients compare the certificate's dates with
 * their own clock.
 */
export function makeAuthority(hostnames: readonly string[], nowMs: number): Authority {
  const validity = { notBefore: new Date(nowMs - DAY_MS), notAfter: new Date(nowMs + VALID_DAYS * DAY_MS) };
  const [authority, hosts] = [makeKeys(), makeKeys()];
  const name = [{ name: "commonName", value: "Plaza, authority of one run" }];
  const root = certificateOf({ ...validity, keys: authority, subject: name, issuer: name });
  root.setExtensions([
    { name: "basicConstraints", cA: true, pathLenConstraint: 0, critical: true },
    { name: "keyUsage", keyCertSign: true, critical: true },
    { name: "subjectKeyIdentifier" },
    // The authority can sign certificates only for the hosts for which Plaza responds. A client that keeps the certificate by mistake therefore
    // trusts the authority only for these hosts.
    nameConstraints(hostnames),
  ]);
  root.sign(authority.privateKey, forge.md.sha256.create());
  const leaf = certificateOf({ ...validity, keys: hosts, subject: [{ name: "commonName", value: "Plaza" }], issuer: name });
  leaf.setExtensions([
    { name: "basicConstraints", cA: false, critical: true },
    { name: "keyUsage", digitalSignature: true, keyEncipherment: true, critical: true },
    { name: "extKeyUsage", serverAuth: true },
    { name: "subjectAltName", altNames: hostnames.map((value) => ({ type: DNS_NAME, value })) },
    { name: "subjectKeyIdentifier" },
    // Python 3.13 and newer versions refuse a certificate without this extension, which identifies the authority's key.
    { name: "authorityKeyIdentifier", keyIdentifier: root.generateSubjectKeyIdentifier().getBytes() },
  ]);
  leaf.sign(authority.privateKey, forge.md.sha256.create());
  return {
    certificate: forge.pki.certificateToPem(root),
    ofHosts: { cert: forge.pki.certificateToPem(leaf), key: forge.pki.privateKeyToPem(hosts.privateKey) },
  };
}

/** The ASN.1 tag of a DNS name in a list of general names (RFC 5280, 4.2.1.6). */
const DNS_NAME = 2;

interface Keys {
  readonly publicKey: forge.pki.rsa.PublicKey;
  readonly privateKey: forge.pki.rsa.PrivateKey;
}

function makeKeys(): Keys {
  // The runtime makes keys a hundred times faster than the certificate package, which is written in JavaScript.
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: KEY_BITS,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  const key = forge.pki.privateKeyFromPem(privateKey);
  return { privateKey: key, publicKey: forge.pki.setRsaPublicKey(key.n, key.e) };
}

interface CertificateParts {
  readonly keys: Keys;
  readonly subject: forge.pki.CertificateField[];
  readonly issuer: forge.pki.CertificateField[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

function certificateOf({ keys, subject, issuer, notBefore, notAfter }: CertificateParts): forge.pki.Certificate {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  // The first byte is chosen so that the serial number is positive.
  certificate.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(SERIAL_BYTES - 1))}`;
  certificate.validity.notBefore = notBefore;
  certificate.validity.notAfter = notAfter;
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  return certificate;
}

/** Returns the extension that allows the authority to sign only for the given names and for their subdomains (RFC 5280, 4.2.1.10). */
function nameConstraints(hostnames: readonly string[]): { id: string; critical: boolean; value: forge.asn1.Asn1 } {
  const { asn1 } = forge;
  const { SEQUENCE } = asn1.Type;
  const ofContext = (tag: number, isConstructed: boolean, value: string | forge.asn1.Asn1[]): forge.asn1.Asn1 =>
    asn1.create(asn1.Class.CONTEXT_SPECIFIC, tag, isConstructed, value);
  const subtrees = hostnames.map((hostname) => asn1.create(asn1.Class.UNIVERSAL, SEQUENCE, true, [ofContext(DNS_NAME, false, hostname)]));
  return { id: "2.5.29.30", critical: true, value: asn1.create(asn1.Class.UNIVERSAL, SEQUENCE, true, [ofContext(0, true, subtrees)]) };
}
