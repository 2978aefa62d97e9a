/** Changes the texts in a multipart/form-data body. Each character of the body stands for one byte, because uploaded files need not be text. */
import { MultipartProblem, partsOf } from "#kernel/http-text/multipart";

type Pairs = readonly (readonly [string, string])[];

export const typeOf = (headers: Pairs): string => headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";

export const isMultipart = (headers: Pairs): boolean => /^multipart\//i.test(typeOf(headers));

/**
 * Calls `change` with the name and the text of each form field, and replaces the field's text with the returned text. All other bytes of the
 * body stay unchanged. Returns undefined if the body cannot be parsed.
 */
export function changeParts(body: string, headers: Pairs, change: (name: string, text: string) => string): string | undefined {
  const bytes = Buffer.from(body, "latin1");
  let changed = "";
  let end = 0;
  try {
    for (const { name, content } of partsOf(bytes, typeOf(headers))) {
      if (content.length === 0) continue;
      const at = content.byteOffset - bytes.byteOffset;
      const text = bytes.toString("utf8", at, at + content.length);
      const other = change(name, text);
      if (other === text) continue;
      changed += body.slice(end, at) + Buffer.from(other).toString("latin1");
      end = at + content.length;
    }
  } catch (error) {
    if (error instanceof MultipartProblem) return undefined;
    throw error;
  }
  return changed + body.slice(end);
}
