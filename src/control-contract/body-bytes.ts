/** The bytes of a body that has to be held as a whole, read no farther than they may go. */
import { ControlError } from "./errors.ts";

export async function bodyBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const tooLarge = () => new ControlError("body_too_large", `the body is larger than ${bytesMax} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > bytesMax) throw tooLarge();
    parts.push(part);
  }
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
}
