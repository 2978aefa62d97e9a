import { useState } from "react";

interface SureProps {
  readonly text: string;
  /** The text of the button that confirms the action. */
  readonly sure: string;
  readonly onSure: () => void;
}

const focus = (element: HTMLElement | null): void => element?.focus();

/** Asks for confirmation before an action that cannot be undone. The focus goes to the button that cancels. */
export function Sure({ text, sure, onSure }: SureProps) {
  /** Undefined until a person first presses the button. */
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
        Cancel
      </button>
    </span>
  );
}
