import { type ReactNode, useEffect } from "react";

interface SplitProps {
  readonly children: ReactNode;
  /** The detail to show beside the list; undefined if no row is open. */
  readonly detail: ReactNode | undefined;
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly actions?: ReactNode;
}

/** A list and its open detail, side by side. Escape closes the detail. */
export function Split({ children, detail, title, onClose, actions }: SplitProps) {
  const isOpen = detail !== undefined;
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented && document.querySelector("[role=dialog]") === null) onClose();
    };
    addEventListener("keydown", close);
    return () => removeEventListener("keydown", close);
  }, [isOpen, onClose]);
  return (
    <div className="split" data-open={isOpen ? "" : undefined}>
      <div className="pane">{children}</div>
      {isOpen && (
        <section className="pane detail" aria-label="Detail" tabIndex={0}>
          <div className="detail-head">
            <h2>{title}</h2>
            {actions}
            <button type="button" className="plain" onClick={onClose} aria-label="Close detail">
              ✕
            </button>
          </div>
          {detail}
        </section>
      )}
    </div>
  );
}
