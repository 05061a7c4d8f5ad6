import type { Node } from "../node/node.ts";
import type { Choices } from "./choice.ts";
import type { DialectOverrides } from "./dialect.ts";
import { knownClientOf } from "./known-clients.ts";
import { type Edition, isSwitchField, type SwitchField, switchNameOf, switchTable } from "./switches.ts";

/** The scope in which an operator made a choice. */
export type ChosenBy = "clients" | "listener" | "server";

/** Which choices decided the dialect of a stream, for display. */
export interface DialectState {
  readonly edition: Edition;
  /** The scope that chose the edition; undefined if it is the default. */
  readonly editionBy: ChosenBy | undefined;
  /** The name of the known client; undefined for an unknown one. */
  readonly client: string | undefined;
  /** The name of the listener that the client connected to. */
  readonly listener: string | undefined;
  /** The name of the rule that matched the client, if one did. */
  readonly clients: string | undefined;
  /** Every overridden switch, with the scope that won. */
  readonly switches: readonly SwitchState[];
}

/** One overridden switch. */
export interface SwitchState {
  readonly name: string;
  /** In the notation of the settings. */
  readonly value: string;
  readonly by: ChosenBy;
}

/** Resolves the choices for a node and says which scope made each. */
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

/** Formats the value of a switch as settings write it: `30s`, `3584KiB`, `removed`; per kind: `removed, rds: none`. */
export function formatSwitch(field: SwitchField, value: unknown): string {
  if (typeof value !== "object" || value === null) return formatOne(field, value);
  return Object.entries(value)
    .map(([kind, one]) => (kind === "otherwise" ? formatOne(field, one) : `${kind}: ${formatOne(field, one)}`))
    .join(", ");
}

/** Lists each kind with its own value as a separate switch, because a listener may set one and the server another. */
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
