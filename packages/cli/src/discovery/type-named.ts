import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion, TypeUrl } from "@xdskit/protocol";
import { CommandError, exitCode } from "../exit-code.ts";

/** The words for types, as help and shells show them. A test keeps them equal to those that are known. */
export const typeWords = ["lds", "rds", "cds", "eds", "sds", "rtds", "srds", "ecds", "vhds", "leds", "trds"] as const;

/** What the types that are asked for most are called in full. */
export const typeNames: ReadonlyMap<string, (typeof typeWords)[number]> = new Map([
  ["listeners", "lds"],
  ["routes", "rds"],
  ["clusters", "cds"],
  ["endpoints", "eds"],
  ["secrets", "sds"],
]);

/** The type that the caller means, in one version of the API. Throws a `CommandError` for a word that names none. */
export function typeNamed(text: string, version: ApiVersion, api: EnvoyApi): TypeUrl {
  const type = api.typeNamed(typeNames.get(text) ?? text);
  if (type === undefined) {
    const known = api.types.flatMap(({ shortName }) => (shortName === "" ? [] : [shortName]));
    throw new CommandError(exitCode.usage, `unknown type "${text}"`, `it may be ${known.join(", ")}, or a type URL`);
  }
  const entry = api.types.find((one) => one.type === type);
  // A type URL says its version itself; by the other version's methods it may be asked for all the same.
  if (version === "v3" || entry === undefined || text.includes("/")) return type;
  if (entry.v2Twin !== undefined) return entry.v2Twin;
  throw new CommandError(exitCode.usage, `there is no ${text} in v2`, "leave --v2 off");
}
