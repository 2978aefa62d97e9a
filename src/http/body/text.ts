const decoder = new TextDecoder("utf-8", { fatal: true });

/** Without a byte order mark; undefined when the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
