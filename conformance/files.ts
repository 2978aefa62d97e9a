/** The texts of the cases, of the worlds for cases, and of the files in `spec/` about clauses. */
import { textsBelow } from "./texts.ts" with { type: "macro" };

type Texts = Readonly<Record<string, string>>;

export const caseTexts: Texts = textsBelow("cases");
export const worldTexts: Texts = textsBelow("worlds");
export const specTexts: Texts = textsBelow("../spec");
