import { type Command, Option } from "commander";
import { CommandError, exitCode } from "../exit-code.ts";

/** A locality as bootstraps write it; unknown parts are omitted. */
export interface Locality {
  readonly region?: string;
  readonly zone?: string;
  readonly sub_zone?: string;
}

/** Reads `region`, `region/zone` or `region/zone/sub-zone`; undefined for anything else. */
function parseLocality(text: string): Locality | undefined {
  const [region, zone, subZone, ...more] = text.split("/");
  if (region === undefined || region === "" || more.length > 0) return undefined;
  return { region, ...(zone !== undefined && { zone }), ...(subZone !== undefined && { sub_zone: subZone }) };
}

/** Metadata and locality of a node, by which a server may select its resources. */
export interface DescribedNode {
  readonly metadata: Readonly<Record<string, string>>;
  readonly locality: Locality;
}

/** Adds `--metadata` and `--locality`. */
export function addDescriptionFlags(command: Command): Command {
  return command
    .addOption(
      new Option("-m, --metadata <key=value>", "node metadata (may be repeated)")
        .argParser(addPair)
        .default({}, "none"),
    )
    .addOption(
      new Option("--locality <region/zone/sub-zone>", "locality of the node")
        .argParser(readLocality)
        .default({}, "unknown"),
    );
}

function readLocality(text: string): Locality {
  const locality = parseLocality(text);
  if (locality !== undefined) return locality;
  const message = `--locality: expected region, region/zone or region/zone/sub-zone, got "${text}"`;
  throw new CommandError(exitCode.usage, message);
}

function addPair(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new CommandError(exitCode.usage, `--metadata: expected key=value, got "${text}"`);
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}
