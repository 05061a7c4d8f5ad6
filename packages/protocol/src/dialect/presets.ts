import type { Node } from "../node/node.ts";
import type { Choices } from "./choice.ts";
import type { Dialect, DialectOverrides } from "./dialect.ts";
import { type KnownClient, knownClientOf, knownClients } from "./known-clients.ts";
import { type Edition, editions, inEdition, isPerKind, isSwitchField, switchFields } from "./switches.ts";

/** What each edition comes to for each known client, and for all others; streams share them. */
const presets: ReadonlyMap<Edition, ReadonlyMap<KnownClient | undefined, Dialect>> = new Map(
  editions.map((edition) => {
    const preset = presetOf(edition);
    return [
      edition,
      new Map([
        [undefined, preset],
        ...knownClients.map((client) => [client, override(preset, client.overrides)] as const),
      ]),
    ];
  }),
);

/**
 * The dialect of a stream. A switch that was set for its clients goes before one of its listener, that before one of the
 * server, and all of them before the row of the client, if it is known; everything else is as the edition has it, which is
 * the one chosen for its clients, else for its listener, else for the server, else the newest.
 */
export function dialectFor(node: Node, { server, listener, clients }: Choices = {}): Dialect {
  const edition = clients?.edition ?? listener?.edition ?? server?.edition ?? "current";
  const preset = presets.get(edition)?.get(knownClientOf(node)) ?? presetOf(edition);
  return [server, listener, clients].reduce((dialect, choice) => override(dialect, choice?.dialect), preset);
}

function presetOf(edition: Edition): Dialect {
  // A field of `Dialect` without a row of its own does not compile, so the rows make up a dialect.
  return Object.fromEntries(switchFields.map((field) => [field, inEdition(field, edition)])) as unknown as Dialect;
}

function override(dialect: Dialect, overrides: DialectOverrides | undefined): Dialect {
  const changed = Object.entries(overrides ?? {}).flatMap(([field, value]) =>
    value === undefined || !isSwitchField(field)
      ? []
      : [[field, isPerKind(field) ? spread(dialect[field], value) : value]],
  );
  return changed.length === 0 ? dialect : { ...dialect, ...Object.fromEntries(changed) };
}

/** A value for all replaces that of every kind; values for some kinds leave the others alone. */
function spread(before: unknown, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return { otherwise: value };
  return "otherwise" in value || typeof before !== "object" ? value : { ...before, ...value };
}
