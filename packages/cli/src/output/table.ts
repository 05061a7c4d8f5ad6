import type { Colors } from "./color.ts";
import { oneLine } from "./one-line.ts";

/** A column of a table. */
export interface Column<T> {
  readonly title: string;
  /** The text of a cell; "" for none. */
  text(row: T): string;
  /** Colours the text of a cell. */
  color?(text: string, row: T): string;
}

const GAP = "  ";
const MIN_LAST_COLUMN = 20;

/**
 * Formats rows as aligned columns. In a terminal (`width` is given), the last column is truncated so that each row fits
 * one line.
 */
export function formatTable<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { colors, width }: { readonly colors: Colors; readonly width: number | undefined },
): string {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.text(row))));
  const widths = columns.map(({ title }, index) =>
    cells.reduce((widest, cell) => Math.max(widest, [...(cell[index] ?? "")].length), title.length),
  );
  const last = columns.length - 1;
  if (width !== undefined) {
    const before = widths.slice(0, last).reduce((sum, each) => sum + each + GAP.length, 0);
    widths[last] = Math.min(widths[last] ?? 0, Math.max(MIN_LAST_COLUMN, width - before));
  }
  const header = columns.map(({ title }, index) => pad(title, widths[index] ?? 0, index === last));
  const lines = rows.map((row, at) =>
    columns
      .map((column, index) => {
        const text = cut(cells[at]?.[index] ?? "", widths[index] ?? 0);
        const colored = column.color === undefined ? text : column.color(text, row);
        return index === last ? colored : colored + " ".repeat((widths[index] ?? 0) - [...text].length);
      })
      .join(GAP)
      .trimEnd(),
  );
  return [colors.bold(header.join(GAP).trimEnd()), ...lines, ""].join("\n");
}

function pad(text: string, width: number, isLast: boolean): string {
  return isLast ? text : text.padEnd(width);
}

function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join("")}…`;
}
