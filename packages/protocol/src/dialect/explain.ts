import type { Node } from "../node/node.ts";
import type { Choices } from "./choice.ts";
import type { DialectOverrides } from "./dialect.ts";
import { knownClientOf } from "./known-clients.ts";
import { type Edition, isSwitchField, type SwitchField, switchNameOf, switchTable } from "./switches.ts";

/** Where something of a dialect was chosen. */
export type ChosenBy = "clients" | "listener" | "server";

/** Why a stream is spoken to as it is, for people. */
export interface DialectState {
  readonly edition: Edition;
  /** Who chose the edition; undefined: nobody, it is the default. */
  readonly editionBy: ChosenBy | undefined;
  /** The row of the known client; undefined for one that nobody knows. */
  readonly client: string | undefined;
  /** What the listener that it came to is called. */
  readonly listener: string | undefined;
  /** What the choice for its clients is called, if one was made. */
  readonly clients: string | undefined;
  /** What was switched; where several did, by whoever counts. */
  readonly switches: readonly SwitchState[];
}

/** One switch that somebody set. */
export interface SwitchState {
  readonly name: string;
  /** As it is written in settings. */
  readonly value: string;
  readonly by: ChosenBy;
}

/** What the choices for a node come to, and who made them. */
export function explainDialect(node: Node, { server, listener, clients }: Choices): DialectState {
  const inOrder = [
    ["clients", clients],
    ["listener", listener],
    ["server", server],
  ] as const;
  const chosen = inOrder.find(([, choice]) => choice?.edition !== undefined);
  const switches = new Map<string, SwitchState>();
  for (const [by, choice] of inOrder) {
    const isSettled = ({ name }: SwitchState): boolean => switches.has(name) || switches.has(name.replace(/\..*/, ""));
    const left = switchesOf(choice?.dialect ?? {}, by).filter((one) => !isSettled(one));
    for (const one of left) switches.set(one.name, one);
  }
  return {
    edition: chosen?.[1]?.edition ?? "current",
    editionBy: chosen?.[0],
    client: knownClientOf(node)?.name,
    listener: listener?.name,
    clients: clients?.name,
    switches: [...switches.values()],
  };
}

/** The value of a switch as it is written: `30s`, `3584KiB`, `removed`; of some kinds: `removed, rds: none`. */
export function formatSwitch(field: SwitchField, value: unknown): string {
  if (typeof value !== "object" || value === null) return formatOne(field, value);
  return Object.entries(value)
    .map(([kind, one]) => (kind === "otherwise" ? formatOne(field, one) : `${kind}: ${formatOne(field, one)}`))
    .join(", ");
}

/** Each kind that has a value of its own is a switch of its own: one may be set for a listener and another for the server. */
function switchesOf(overrides: DialectOverrides, by: ChosenBy): readonly SwitchState[] {
  return Object.entries(overrides).flatMap(([field, value]) => {
    if (value === undefined || !isSwitchField(field)) return [];
    const name = switchNameOf(field);
    if (typeof value !== "object") return [{ name, value: formatOne(field, value), by }];
    return Object.entries(value).map(([kind, one]) => ({
      name: kind === "otherwise" ? name : `${name}.${kind}`,
      value: formatOne(field, one),
      by,
    }));
  });
}

const UNITS_MS = [
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
  [1, "ms"],
] as const;

const UNITS_BYTES = [
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
  [1, ""],
] as const;

function formatOne(field: SwitchField, value: unknown): string {
  if (value === undefined) return "not set";
  const { kind } = switchTable[field].form;
  if (typeof value !== "number" || (kind !== "duration" && kind !== "bytes")) return String(value);
  if (value === 0) return kind === "duration" ? "0s" : "0";
  const [size, unit] = (kind === "duration" ? UNITS_MS : UNITS_BYTES).find(([each]) => value % each === 0) ?? [1, ""];
  return `${value / size}${unit}`;
}
