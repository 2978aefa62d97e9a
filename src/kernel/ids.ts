/** D-02: a node id is a decimal string of a positive integer up to 2^63 − 1, without leading zeros. */
export type NodeId = string & { readonly nodeId: true };

const LARGEST = "9223372036854775807";

export function isNodeId(text: string): text is NodeId {
  const length = text.length;
  if (length === 0 || length > LARGEST.length) return false;
  const first = text.charCodeAt(0);
  if (first < 49 || first > 57) return false;
  for (let i = 1; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 48 || unit > 57) return false;
  }
  return length < LARGEST.length || text <= LARGEST;
}

/**
 * Returns the text as a node id. The text must be a node id from the database or a new node id. Throws if the text is not a valid id, because that is
 * a mistake in the server's code.
 */
export function nodeId(text: string): NodeId {
  if (!isNodeId(text)) throw new TypeError(`not a node id: ${text}`);
  return text;
}

/** Makes ids that are unique in one world; later ids are greater (D-02). */
export interface IdMinter {
  mint(): NodeId;
}
