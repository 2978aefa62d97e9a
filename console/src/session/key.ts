/**
 * The control key of this tab. The console sends the key only in a header, and never stores it in a place that another tab or a later session can
 * read (D-271).
 */
const NAME = "plaza.control-key";
const IN_FRAGMENT = /^#key=([^&]+)$/;

/** Removes the key from the address that `plaza start` printed, so that a copied link does not contain it. */
export function takeKeyFromAddress(): void {
  const found = IN_FRAGMENT.exec(location.hash)?.[1];
  if (found === undefined) return;
  keepKey(decodeURIComponent(found));
  history.replaceState(history.state, "", location.pathname + location.search);
}

export const currentKey = (): string | undefined => sessionStorage.getItem(NAME) ?? undefined;
export const keepKey = (key: string): void => sessionStorage.setItem(NAME, key);
/** Signs out: the tab forgets the key, and the values of tokens that a person created with this key. */
export const dropKey = (): void => sessionStorage.clear();
