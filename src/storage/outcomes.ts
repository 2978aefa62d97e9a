/**
 * What a write says about itself (whether an id was free, a row was there) is looked at; tidy refuses to drop it. These two are for
 * places where nothing depends on it.
 */

/** Each outcome is right here; the place says why. */
export const eitherWay = (outcome: Promise<unknown>): Promise<unknown> => outcome;

/** Only one outcome is possible here. Another one is a programmer's mistake: the write is rolled back, and the caller gets a 500. */
export async function certain<T>(outcome: Promise<T | false | undefined>, what: string): Promise<T> {
  const result = await outcome;
  if (result === false || result === undefined) throw new Error(`could not ${what}`);
  return result;
}
