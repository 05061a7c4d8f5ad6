import type { ComponentChildren, JSX, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Parameters } from "../api.ts";
import { count } from "../format.ts";
import { useRepeated } from "../use-repeated.ts";

/** Rows that are asked for at once. */
const PAGE = 100;
const ROW_HEIGHT = 44;
/** Rows beyond the edge, so that scrolling by a line shows no gap. */
const BEYOND = 8;
/** How long the shown rows stand before they are asked for again, however much changes. */
const REST_MS = 2_000;

export interface Column<T> {
  readonly title: string;
  /** A class that says how wide it is, and whether narrow screens show it. */
  readonly kind: string;
  readonly cell: (item: T) => ComponentChildren;
}

interface Answer<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/**
 * A table of any length: only the rows in sight exist, and only their pages are asked for. The arrow keys move between
 * rows.
 */
export function VirtualTable<T>({
  label,
  route,
  parameters,
  columns,
  changes,
  empty,
  onTotal,
}: {
  readonly label: string;
  readonly route: string;
  readonly parameters: Parameters;
  readonly columns: readonly Column<T>[];
  /** What makes the shown rows outdated when it changes. */
  readonly changes: unknown;
  readonly empty: string;
  readonly onTotal?: (total: number) => void;
}): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const { itemAt, total, error } = usePages<T>(route, parameters, Math.floor(scrolled / ROW_HEIGHT), changes);
  useEffect(() => {
    if (total !== undefined) onTotal?.(total);
  }, [total]);
  const question = JSON.stringify(parameters);
  useEffect(() => scroller.current?.scrollTo(0, 0), [question]);
  const height = scroller.current?.clientHeight ?? 800;
  const first = Math.max(0, Math.floor(scrolled / ROW_HEIGHT) - BEYOND);
  const last = Math.min(total ?? 0, Math.ceil((scrolled + height) / ROW_HEIGHT) + BEYOND);
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  return (
    <div class="table">
      <div
        class="grid"
        role="table"
        aria-label={label}
        aria-rowcount={(total ?? 0) + 1}
        aria-busy={total === undefined}
      >
        <div class="row head" role="row" aria-rowindex={1}>
          {columns.map(({ title, kind }) => (
            <span key={title} role="columnheader" class={kind}>
              {title}
            </span>
          ))}
        </div>
        <div
          class="rows"
          role="rowgroup"
          tabIndex={0}
          ref={scroller}
          onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop)}
          onKeyDown={moveByArrow}
        >
          <div role="presentation" style={{ height: `${(total ?? 0) * ROW_HEIGHT}px` }} class="all">
            <div role="presentation" class="seen" style={{ transform: `translateY(${first * ROW_HEIGHT}px)` }}>
              {rows.map((index) => (
                <Row key={index} index={index} item={itemAt(index)} columns={columns} />
              ))}
            </div>
          </div>
        </div>
      </div>
      {total === 0 && error === undefined && <p class="empty">{empty}</p>}
      {error !== undefined && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      <p class="total" aria-live="polite">
        {total === undefined ? "asking…" : count(total)}
      </p>
    </div>
  );
}

function Row<T>({
  index,
  item,
  columns,
}: {
  readonly index: number;
  readonly item: T | undefined;
  readonly columns: readonly Column<T>[];
}): JSX.Element {
  return (
    <div class="row" role="row" aria-rowindex={index + 2}>
      {columns.map(({ title, kind, cell }) => (
        <span key={title} role="cell" class={kind}>
          {item === undefined ? <i class="coming" /> : cell(item)}
        </span>
      ))}
    </div>
  );
}

/** Moves the focus to the row above or below. */
function moveByArrow(event: TargetedKeyboardEvent<HTMLDivElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>(".row a")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  const next = links[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

interface Pages<T> {
  readonly question: string;
  readonly total: number | undefined;
  readonly error: string | undefined;
  readonly items: ReadonlyMap<number, readonly T[]>;
}

/** The pages around a row. */
function usePages<T>(
  route: string,
  parameters: Parameters,
  row: number,
  changes: unknown,
): { itemAt(index: number): T | undefined; readonly total: number | undefined; readonly error: string | undefined } {
  const question = `${route}?${JSON.stringify(parameters)}`;
  const blank: Pages<T> = { question, total: undefined, error: undefined, items: new Map() };
  const [pages, setPages] = useState<Pages<T>>(blank);
  const current = pages.question === question ? pages : blank;
  const page = Math.floor(Math.max(0, row - BEYOND) / PAGE);
  useRepeated(`${question} ${page}`, changes, REST_MS, async (signal) => {
    try {
      const asked = { ...parameters, offset: page * PAGE, limit: 2 * PAGE };
      const { items, total } = await ask<Answer<T>>(route, asked, signal);
      // Only these two pages: the list may be of any length.
      const found = new Map([
        [page, items.slice(0, PAGE)],
        [page + 1, items.slice(PAGE)],
      ]);
      setPages({ question, total, error: undefined, items: found });
    } catch (cause) {
      if (!signal.aborted) setPages({ ...blank, total: 0, error: (cause as Error).message });
    }
  });
  return {
    total: current.total,
    error: current.error,
    itemAt: (index) => current.items.get(Math.floor(index / PAGE))?.[index % PAGE],
  };
}
