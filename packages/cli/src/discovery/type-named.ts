import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion, TypeUrl } from "@xdskit/protocol";
import { nearestName } from "@xdskit/protocol/problem";
import { CommandError, exitCode } from "../exit-code.ts";

/** Words for types in help and completion. A test keeps them equal to the known ones. */
export const typeWords = ["lds", "rds", "cds", "eds", "sds", "rtds", "srds", "ecds", "vhds", "leds", "trds"] as const;

/** Full words for the common types. */
export const typeNames: ReadonlyMap<string, (typeof typeWords)[number]> = new Map([
  ["listeners", "lds"],
  ["routes", "rds"],
  ["clusters", "cds"],
  ["endpoints", "eds"],
  ["secrets", "sds"],
]);

/** Throws a `CommandError` for an empty name of a resource. */
export function requireNames(names: readonly string[]): void {
  if (names.includes("")) throw new CommandError(exitCode.usage, 'expected the name of a resource, got ""');
}

/** The type that a word names, in one API version. Throws a `CommandError` for an unknown word. */
export function typeNamed(text: string, version: ApiVersion, api: EnvoyApi): TypeUrl {
  const type = api.typeNamed(typeNames.get(text) ?? text);
  if (type === undefined) {
    const known = api.types.flatMap(({ shortName }) => (shortName === "" ? [] : [shortName]));
    const meant = nearestName(text, [...known, ...typeNames.keys()]);
    const hint = meant === undefined ? `it may be ${known.join(", ")}, or a type URL` : `did you mean "${meant}"?`;
    throw new CommandError(exitCode.usage, `unknown type "${text}"`, hint);
  }
  const entry = api.types.find((one) => one.type === type);
  // A type URL includes its version, and may be requested over the methods of the other version too.
  if (version === "v3" || entry === undefined || text.includes("/")) return type;
  if (entry.v2Twin !== undefined) return entry.v2Twin;
  throw new CommandError(exitCode.usage, `there is no ${text} in v2`, "leave --v2 off");
}
