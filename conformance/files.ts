/** The cases, their worlds, and what `spec/` says of clauses, as texts. */
import { textsBelow } from "./texts.ts" with { type: "macro" };

type Texts = Readonly<Record<string, string>>;

export const caseTexts: Texts = textsBelow("cases");
export const worldTexts: Texts = textsBelow("worlds");
export const specTexts: Texts = textsBelow("../spec");
