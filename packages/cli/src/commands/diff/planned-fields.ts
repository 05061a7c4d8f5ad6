import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ChangeAnswer } from "@xdskit/server";
import type { LoadedState } from "@xdskit/source";
import { resourceValue } from "../../discovery/resource-value.ts";
import { type DiffItem, type FieldDifference, fieldsBetween } from "./compare.ts";

/** A change that a publish would make; with `--fields`, with the fields that differ. */
export type PlannedChange = ChangeAnswer & { readonly fields?: readonly FieldDifference[] };

/** A change with the fields in which a directory's resource differs from the server's, in place of bodies. */
export function plannedFields(
  { before, after, ...change }: ChangeAnswer,
  state: LoadedState,
  api: EnvoyApi,
): PlannedChange {
  const planned = {
    ...change,
    ...(before !== undefined && { before: { version: before.version } }),
    ...(after !== undefined && { after: { version: after.version } }),
  };
  const { layer, type, name } = change;
  const resource = state.layers.get(layer)?.find((one) => one.type === type && one.name === name);
  if (before === undefined || after === undefined || resource === undefined) return planned;
  const item = (version: string, value: unknown): DiffItem => ({ layer, type, name, version, value });
  const value = resource.error ?? resourceValue(resource, { api, showsSecrets: false });
  return { ...planned, fields: fieldsBetween(item(before.version, before.body), item(after.version, value)) };
}
