import type { NodeMatch } from "@xdskit/protocol";
import type { MetadataMatch, Patterns, ValuePath } from "@xdskit/protocol/internal";
import { describeKind, isMapping } from "../document/places.ts";
import type { SettingsNotes } from "./settings-notes.ts";

const NODE_FIELDS: readonly string[] = ["id", "cluster", "user_agent_name", "locality", "metadata"];
const LOCALITY_FIELDS: readonly string[] = ["region", "zone", "sub_zone"];

/** Reads a node match of `xdskit.yaml`. */
export function readMatch(notes: SettingsNotes, match: unknown, path: ValuePath): NodeMatch {
  if (!isMapping(match)) {
    const hint = 'write { id: "*" } for every node';
    notes.note(
      "SETTING_WRONG_TYPE",
      path,
      "value",
      `expected match: which nodes belong to it, got ${describeKind(match)}`,
      hint,
    );
    return {};
  }
  notes.refuseOthers(match, path, NODE_FIELDS);
  const { id, cluster, user_agent_name: agent, locality, metadata } = match as Partial<Record<string, unknown>>;
  return {
    ...(id === undefined ? {} : { id: readPatterns(notes, id, [...path, "id"]) }),
    ...(cluster === undefined ? {} : { cluster: readPatterns(notes, cluster, [...path, "cluster"]) }),
    ...(agent === undefined ? {} : { userAgentName: readPatterns(notes, agent, [...path, "user_agent_name"]) }),
    ...(locality === undefined ? {} : { locality: readLocality(notes, locality, [...path, "locality"]) }),
    ...(metadata === undefined ? {} : { metadata: readMetadata(notes, metadata, [...path, "metadata"]) }),
  };
}

function readLocality(notes: SettingsNotes, locality: unknown, path: ValuePath): NonNullable<NodeMatch["locality"]> {
  if (!isMapping(locality)) {
    notes.wrongType(path, "region, zone or sub_zone", locality);
    return {};
  }
  notes.refuseOthers(locality, path, LOCALITY_FIELDS);
  const { region, zone, sub_zone: subZone } = locality as Partial<Record<string, unknown>>;
  return {
    ...(region === undefined ? {} : { region: readPatterns(notes, region, [...path, "region"]) }),
    ...(zone === undefined ? {} : { zone: readPatterns(notes, zone, [...path, "zone"]) }),
    ...(subZone === undefined ? {} : { subZone: readPatterns(notes, subZone, [...path, "sub_zone"]) }),
  };
}

function readMetadata(notes: SettingsNotes, metadata: unknown, path: ValuePath): MetadataMatch {
  if (!isMapping(metadata)) {
    notes.wrongType(path, "fields of the node's metadata", metadata);
    return {};
  }
  const entries = Object.entries(metadata).map(([field, wanted]): [string, Patterns | MetadataMatch] => {
    const here = [...path, field];
    return [field, isMapping(wanted) ? readMetadata(notes, wanted, here) : readPatterns(notes, wanted, here)];
  });
  return Object.fromEntries(entries);
}

function readPatterns(notes: SettingsNotes, given: unknown, path: ValuePath): Patterns {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const patterns = list.filter((item) => ["string", "number", "boolean"].includes(typeof item)).map(String);
  if (patterns.length !== list.length || list.length === 0)
    notes.wrongType(path, "a pattern, or a list of them", given);
  return patterns;
}
