import type { ReactNode } from "react";

interface PanelProps {
  readonly title: string;
  /** A link to the view that shows all of the panel's data. */
  readonly more?: ReactNode;
  readonly children: ReactNode;
}

export function Panel({ title, more, children }: PanelProps) {
  return (
    <section className="block">
      <div className="panel-head">
        <h2>{title}</h2>
        {more}
      </div>
      {children}
    </section>
  );
}
