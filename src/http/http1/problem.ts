/** Why bytes are refused. The protocol names the problem; the error that the client receives is chosen above it. */
export type ProtocolProblem =
  /** `detail` is a clause of a sentence. */
  | { readonly kind: "malformed-head"; readonly detail: string }
  | { readonly kind: "head-too-large" }
  | { readonly kind: "head-too-slow"; readonly msMax: number }
  | { readonly kind: "malformed-chunks" }
  | { readonly kind: "body-too-large"; readonly bytesMax: number }
  | { readonly kind: "body-too-slow"; readonly msMax: number }
  /** Too much is arriving from others as well. */
  | { readonly kind: "no-capacity" };

export const malformed = (detail: string): ProtocolProblem => ({ kind: "malformed-head", detail });
