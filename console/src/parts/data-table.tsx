/** A table of any length. The page contains only the visible rows. The arrow keys move through the rows, and Enter opens one. */
import { type ColumnDef, tableFeatures, useTable } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef } from "react";
import { say, sayProblem } from "./notices.tsx";

const ROW_HEIGHT = 36;
/** The number of rows that are rendered beyond the visible ones, so that they are ready when a person scrolls. */
const OVERSCAN = 12;

export interface Column<T> {
  readonly id: string;
  readonly title: string;
  /** The width in CSS, e.g. `120px` or `minmax(160px, 1fr)`. */
  readonly width: string;
  readonly isNumber?: boolean;
  readonly cell: (row: T) => ReactNode;
}

interface DataTableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly idOf: (row: T) => string;
  readonly chosen: string | undefined;
  readonly onChoose: (id: string) => void;
  /** Called when the last rows of the table become visible. */
  readonly onEnd?: (() => void) | undefined;
  readonly onScrolled?: ((isAtTop: boolean) => void) | undefined;
}

const features = tableFeatures({});

export function DataTable<T>({ label, columns, rows, idOf, chosen, onChoose, onEnd, onScrolled }: DataTableProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const base = useId();
  // Memoized, so that all rows share the same definitions while a person scrolls.
  const definitions = useMemo(
    () =>
      columns.map(({ id, title, cell }): ColumnDef<typeof features, object> => ({ id, header: title, cell: ({ row }) => cell(row.original as T) })),
    [columns],
  );
  const table = useTable({ features, columns: definitions, data: rows as readonly object[] as object[], getRowId: (row) => idOf(row as T) });
  const all = table.getRowModel().rows;
  const virtual = useVirtualizer({ count: all.length, getScrollElement: () => scroller.current, estimateSize: () => ROW_HEIGHT, overscan: OVERSCAN });
  const shown = virtual.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? -1;
  useEffect(() => {
    if (onEnd !== undefined && all.length > 0 && lastShown >= all.length - 1) onEnd();
  }, [onEnd, lastShown, all.length]);
  const at = chosen === undefined ? -1 : rows.findIndex((row) => idOf(row) === chosen);
  useInSight(at, virtual.scrollToIndex);
  const walk = (event: KeyboardEvent): void => {
    const page = Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2;
    const to = placeAfter(event, at, page, rows.length);
    const next = to === undefined ? undefined : rows[to];
    if (to === undefined || next === undefined) return;
    event.preventDefault();
    onChoose(idOf(next));
    virtual.scrollToIndex(to);
  };
  return (
    <div
      ref={scroller}
      className="table"
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={shown.some(({ index }) => index === at) ? `${base}-${at}` : undefined}
      tabIndex={0}
      onKeyDown={walk}
      onScroll={(event) => onScrolled?.(event.currentTarget.scrollTop < ROW_HEIGHT)}
      style={{ "--columns": columns.map(({ width }) => width).join(" ") } as CSSProperties}
    >
      <Head columns={columns} />
      <div role="rowgroup" className="body" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const row = all[index];
          if (row === undefined) return null;
          return (
            <div
              role="row"
              className="row"
              id={`${base}-${index}`}
              key={row.id}
              aria-rowindex={index + 2}
              aria-selected={index === at}
              style={{ transform: `translateY(${start}px)` }}
              onClick={({ target }) => press(target as HTMLElement, row.id, onChoose)}
            >
              {row.getAllCells().map((cell, nth) => (
                <div role="gridcell" className={columns[nth]?.isNumber === true ? "number" : undefined} key={cell.id}>
                  {columns[nth]?.cell(row.original as T)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Opens a row, or copies the id that was clicked in it. */
function press(target: HTMLElement, row: string, onChoose: (id: string) => void): void {
  const copied = target.closest<HTMLElement>("[data-copy]")?.dataset.copy;
  if (copied === undefined) onChoose(row);
  else void navigator.clipboard.writeText(copied).then(() => say(`Copied ${copied}`), sayProblem);
}

/** Scrolls to the opened row: on a narrow screen its detail opens below the list and would hide the row. */
function useInSight(at: number, scrollTo: (index: number) => void): void {
  const hasChosen = at !== -1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when something is opened, since a list that grows stays where its reader is.
  useEffect(() => {
    if (hasChosen) requestAnimationFrame(() => scrollTo(at));
  }, [hasChosen]);
}

function Head<T>({ columns }: { readonly columns: readonly Column<T>[] }) {
  return (
    <div role="rowgroup" className="head">
      <div role="row" className="row" aria-rowindex={1}>
        {columns.map(({ id, title, isNumber }) => (
          <div role="columnheader" className={isNumber === true ? "number" : undefined} key={id}>
            {title}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The index of the row to which a key moves in a list of `count` rows; undefined if the key does not move. */
function placeAfter({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, at: number, page: number, count: number): number | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -count, End: count };
  const step = steps[key];
  return step === undefined ? undefined : Math.max(0, Math.min(count - 1, at + step));
}
