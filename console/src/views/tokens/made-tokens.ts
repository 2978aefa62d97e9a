/**
 * The values of the tokens that this tab created. The server does not store the values of tokens, so this tab keeps them until it is closed or
 * signs out, as it keeps the control key (D-271, D-408).
 */
const NAME = "plaza.made-tokens";
/** This limit is greater than the number of tokens that a person creates in one tab. */
const KEPT_MAX = 50;

const madeTokens = (): readonly (readonly [id: string, value: string])[] => JSON.parse(sessionStorage.getItem(NAME) ?? "[]");

export const madeToken = (id: string): string | undefined => madeTokens().find(([known]) => known === id)?.[1];
export const keepToken = (id: string, value: string): void =>
  sessionStorage.setItem(NAME, JSON.stringify([[id, value], ...madeTokens()].slice(0, KEPT_MAX)));
