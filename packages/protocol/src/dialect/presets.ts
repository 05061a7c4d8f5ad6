import type { Node } from "../node/node.ts";
import type { Choices } from "./choice.ts";
import type { Dialect, DialectOverrides } from "./dialect.ts";
import { type KnownClient, knownClientOf, knownClients } from "./known-clients.ts";
import { type Edition, editions, inEdition, isPerKind, isSwitchField, switchFields } from "./switches.ts";

/** The dialect of each edition for each known client and for all others, shared by all streams. */
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
 * Returns the dialect of a stream. A switch of the client's rule overrides one of its listener, which overrides one of
 * the server, which overrides the row of the known client. The edition decides the rest: that of the client's rule,
 * else of the listener, else of the server, else the newest.
 */
export function dialectFor(node: Node, { server, listener, clients }: Choices = {}): Dialect {
  const edition = clients?.edition ?? listener?.edition ?? server?.edition ?? "current";
  const preset = presets.get(edition)?.get(knownClientOf(node)) ?? presetOf(edition);
  return override(overrideForAll(overrideForAll(preset, server?.dialect), listener?.dialect), clients?.dialect);
}

/** By the overrides of a server or a listener, which are given once: the dialects that they change. */
const changedForAll = new WeakMap<DialectOverrides, Map<Dialect, Dialect>>();

/** As `override`, with one result for all streams. */
function overrideForAll(dialect: Dialect, overrides: DialectOverrides | undefined): Dialect {
  if (overrides === undefined) return dialect;
  const known = changedForAll.get(overrides) ?? new Map<Dialect, Dialect>();
  const changed = known.get(dialect) ?? override(dialect, overrides);
  changedForAll.set(overrides, known.set(dialect, changed));
  return changed;
}

function presetOf(edition: Edition): Dialect {
  // A field of `Dialect` without a row does not compile, so the rows make a complete dialect.
  return Object.fromEntries(switchFields.map((field) => [field, inEdition(field, edition)])) as unknown as Dialect;
}

function override(dialect: Dialect, overrides: DialectOverrides | undefined): Dialect {
  if (overrides === undefined) return dialect;
  const changed = Object.entries(overrides).flatMap(([field, value]) =>
    value === undefined || !isSwitchField(field)
      ? []
      : [[field, isPerKind(field) ? spread(dialect[field], value) : value]],
  );
  return changed.length === 0 ? dialect : { ...dialect, ...Object.fromEntries(changed) };
}

/** A single value replaces the values of all kinds; values for some kinds leave the others as they are. */
function spread(before: unknown, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return { otherwise: value };
  return "otherwise" in value || typeof before !== "object" ? value : { ...before, ...value };
}
