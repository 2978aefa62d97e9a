/** The data that both Plaza and the floors store, and the requests that read and write it. */
import type { LoadRequest } from "./load.ts";

export const APP = "1001";
export const PAGE = "2001";
/** The access token, which is as long as the tokens that Plaza creates. */
export const TOKEN = "PLZbenchbenchbenchbenchbenchbenchbenchbenchben";

/** The first ten digits of the ids of personas. Ids have 18 digits, like those that Plaza creates; the last eight digits count up. */
export const PERSONA_IDS = "1234567891";
export const LABEL_IDS = "1234567892";
export const PEOPLE_IDS = "1234567893";
export const idOf = (prefix: string, index: number): string => prefix + String(index).padStart(8, "0");

export interface Persona {
  readonly id: string;
  readonly page: string;
  readonly name: string;
  readonly profile_picture_url: string;
}

export interface Label {
  readonly id: string;
  readonly page: string;
  readonly name: string;
}

export function* personas(count: number): Generator<Persona> {
  for (let i = 0; i < count; i++) {
    yield { id: idOf(PERSONA_IDS, i), page: PAGE, name: `Persona ${i}`, profile_picture_url: `https://example.com/personas/${i}.png` };
  }
}

export function* labels(count: number): Generator<Label> {
  for (let i = 0; i < count; i++) yield { id: idOf(LABEL_IDS, i), page: PAGE, name: `label ${i}` };
}

export interface Person {
  readonly psid: string;
  readonly page: string;
  readonly name: string;
  readonly label: string;
}

export function* people(count: number): Generator<Person> {
  for (let i = 0; i < count; i++) yield { psid: idOf(PEOPLE_IDS, i), page: PAGE, name: `Person ${i}`, label: idOf(LABEL_IDS, i) };
}

/** Makes a world file (operating.md) with one page and a token of the page. */
export const world = (more: { readonly personas?: readonly Persona[]; readonly labels?: readonly Label[] } = {}) => ({
  apps: [{ id: APP, name: "Bench", secret: "bench secret" }],
  pages: [{ id: PAGE, name: "Bench page" }],
  tokens: [{ token: TOKEN, type: "page", app: APP, page: PAGE, scopes: ["pages_messaging"] }],
  ...more,
});

/** The three credentials that operations of page messaging require. */
const credentials = `access_token=${TOKEN}&oauth_token=${TOKEN}`;
const headers = { Authorization: `Bearer ${TOKEN}` };

/** Makes a GET request. `path` is the part of the address after the version, and may contain a query. */
export const get = (path: string): LoadRequest => ({
  method: "GET",
  target: `/v26.0/${path}${path.includes("?") ? "&" : "?"}${credentials}`,
  headers,
});

export const post = (path: string, body: string): LoadRequest => ({
  method: "POST",
  target: `/v26.0/${path}?${credentials}`,
  headers: { ...headers, "Content-Type": "application/json" },
  body,
});
