import type { Bounds, Setting, SettingKind } from "./setting-table.ts";

export const MS_OF_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
export const BYTES_OF_UNIT: Readonly<Record<string, number>> = { "": 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** The longest timer of Node, in milliseconds: 24.8 days. */
const LONGEST_MS = 2 ** 31 - 1;

type BoundedSetting = Pick<Setting, "kind" | "bounds">;

/** The bounds of a setting with a number; those that its row does not give are of its kind. */
export function boundsOf({ kind, bounds }: BoundedSetting): Bounds {
  return { min: 0, max: isDuration(kind) ? LONGEST_MS : Number.MAX_SAFE_INTEGER, ...bounds };
}

/** The bounds that a row gives, as they are written in a file: `from 1 to 256`. Undefined: none. */
export function describeBounds({ kind, bounds: { min, max } = {} }: BoundedSetting): string | undefined {
  const ends = [
    ...(min === undefined ? [] : [`from ${formatNumber(kind, min)}`]),
    ...(max === undefined ? [] : [`to ${formatNumber(kind, max)}`]),
  ];
  return ends.length === 0 ? undefined : ends.join(" ");
}

/** Writes the value of a kind with its largest unit: `1s`, `64MiB`. */
export function formatNumber(kind: SettingKind, value: number): string {
  const units = isDuration(kind) ? MS_OF_UNIT : kind === "bytes" ? BYTES_OF_UNIT : {};
  const [unit, size] = Object.entries(units).findLast(([, each]) => value !== 0 && value % each === 0) ?? ["", 1];
  return `${value / size}${unit}`;
}

function isDuration(kind: SettingKind): boolean {
  return kind === "duration" || kind === "duration-or-off";
}
