/** What a place of the source could say instead. */
export interface Change {
  readonly kind: string;
  /** In the text of the file. */
  readonly start: number;
  readonly end: number;
  readonly now: string;
}
