/**
 * The formats of texts, such as addresses and country codes. Each format has a function that checks a text, and keywords of JSON Schema
 * for OpenAPI documents.
 */
import { handshakeFailed } from "#kernel/errors";
import { isNodeId } from "#kernel/ids";
import { SHAPE_OF } from "./schema-node.ts";

export interface Format {
  /** Returns the text in the normal form of its format. Undefined if the text does not have the format. */
  read(text: string): string | undefined;
  readonly problem: string;
  /** Makes the error of a request whose text does not have the format. Absent if the format does not have an error of its own. */
  readonly error?: (problem: string) => Error;
  readonly words: Readonly<Record<string, unknown>>;
  /** The keywords of JSON Schema for requests to the graph. Absent if requests to the graph have the keywords in `words`. */
  readonly requestWords?: Readonly<Record<string, unknown>>;
}

/**
 * The country codes of ISO 3166-1 alpha-2, as of 2024. Codes outside the list are refused, because an unknown code would have no effect and nobody
 * would notice (D-113).
 */
const COUNTRIES = `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR
  CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU
  ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ
  MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
  SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`;

const countries: ReadonlySet<string> = new Set(COUNTRIES.trim().split(/\s+/));

/** Returns the country code in capital letters. Undefined if the text is not a country code. */
export function countryOf(text: string): string | undefined {
  const code = text.toUpperCase();
  return countries.has(code) ? code : undefined;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

const when = (isOfIt: (text: string) => boolean) => (text: string) => (isOfIt(text) ? text : undefined);

const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);
/**
 * Whether the address has blanks or control characters. `URL` removes or escapes blanks and control characters, but most other programs refuse an
 * address that has them.
 */
const hasBlankOrControl = (text: string): boolean => /[\s\p{Cc}]/u.test(text);

const known: Readonly<Record<string, Format>> = {
  /** D-312: an address must not have blanks or control characters. */
  "web-address": {
    read: when((text) => isWebAddress(text) && !hasBlankOrControl(text)),
    problem: "must be an http or https address, without white space and control characters",
    words: { minLength: 1, format: "uri", pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\x00-\\x1f\\x7f-\\x9f]+$" },
  },
  /** D-61: an address that cannot be called is refused with the same error as a failed handshake. */
  callback: {
    read: when(isWebAddress),
    problem: "is not an http or https address",
    error: (problem) => handshakeFailed(`the address ${problem}`),
    words: { minLength: 1, format: "uri", pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" },
  },
  id: { read: when(isNodeId), problem: "must be an id: a decimal number from 1 to 9223372036854775807", words: { pattern: "^[1-9][0-9]{0,18}$" } },
  country: {
    read: countryOf,
    problem: "must be a country code of ISO 3166-1, such as DE",
    words: { pattern: "^[A-Za-z]{2}$" },
    requestWords: { enum: [...countries], [SHAPE_OF]: "country" },
  },
  "time-zone": { read: when(isTimeZone), problem: "is not a name of the time zone database, e.g. Europe/Berlin", words: { minLength: 1 } },
};

export const findFormat = (name: string): Format | undefined => (Object.hasOwn(known, name) ? known[name] : undefined);
