import { useState } from "react";

interface SureProps {
  readonly text: string;
  /** What would happen, as the button that does it says. */
  readonly sure: string;
  readonly onSure: () => void;
}

const focus = (element: HTMLElement | null): void => element?.focus();

/** Asks again before something that nothing undoes. Keys go on where they were: first to what does nothing. */
export function Sure({ text, sure, onSure }: SureProps) {
  /** Undefined: it was never asked. */
  const [isAsked, ask] = useState<boolean>();
  if (isAsked !== true)
    return (
      <button type="button" className="danger" ref={isAsked === false ? focus : undefined} onClick={() => ask(true)} aria-label={`${text}: ${sure}`}>
        {text}
      </button>
    );
  return (
    <span className="actions sure">
      <button
        type="button"
        className="danger"
        onClick={() => {
          ask(false);
          onSure();
        }}
      >
        {sure}
      </button>
      <button type="button" ref={focus} onClick={() => ask(false)}>
        Keep
      </button>
    </span>
  );
}
