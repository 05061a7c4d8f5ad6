import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ResourceAnswer, ResourcesAnswer, StreamsAnswer } from "@xdskit/server";
import { type ConnectionFlags, saysHowAServerIsAsked } from "../discovery/connection-flags.ts";
import type { Locality } from "../discovery/node-flags.ts";
import { typeNamed } from "../discovery/type-named.ts";
import { CommandError, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { oneLine } from "../output/one-line.ts";
import { askAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";

/** Flags that say whose resources, and how to ask. */
export interface NodeResourcesFlags extends ConnectionFlags, AdminFlags {
  readonly showSecrets?: boolean;
}

const RESOURCES = "/api/v1/resources";

/**
 * The resources of a type that a node sees, as the admin API tells; undefined if the server is to be asked as the node
 * instead: because the flags say how, or nobody says what the node is beside its id.
 */
export async function resourcesOfNode(
  type: string,
  names: readonly string[],
  { flags, api, io }: { readonly flags: NodeResourcesFlags; readonly api: EnvoyApi; readonly io: Io },
): Promise<readonly ResourceAnswer[] | undefined> {
  const { node, admin } = flags;
  if (node === undefined) {
    if (admin === undefined) return undefined;
    throw new CommandError(exitCode.usage, "--admin: say whose resources, by --node");
  }
  if (admin === undefined && (isOtherwiseAsked(flags, io) || !(await isConnected(node, flags, io)))) return undefined;
  const query = {
    type: typeNamed(type, "v3", api),
    node,
    ...descriptionOf(flags),
    name: names,
    body: "true",
    "field-names": "proto",
  };
  return (await askAdmin<ResourcesAnswer>(RESOURCES, query, flags, io)).items;
}

/** Whether the flags or the environment describe the node, name a server without its admin API, or ask for secrets. */
function isOtherwiseAsked(flags: NodeResourcesFlags, { env }: Io): boolean {
  const isDescribed = Object.keys(descriptionOf(flags)).length > 0;
  const servers = ["XDS_SERVER", "GRPC_XDS_BOOTSTRAP", "GRPC_XDS_BOOTSTRAP_CONFIG"];
  const isElsewhere = !env["XDS_ADMIN_SERVER"] && servers.some((name) => env[name]);
  return isDescribed || isElsewhere || saysHowAServerIsAsked(flags) || flags.showSecrets === true;
}

async function isConnected(node: string, flags: AdminFlags, io: Io): Promise<boolean> {
  const who = `node ${JSON.stringify(oneLine(node))}`;
  const instead = "this is what a node gets that has this id and nothing else";
  try {
    const { total } = await askAdmin<StreamsAnswer>("/api/v1/streams", { node, limit: "1" }, flags, io);
    if (total === 0) io.stderr.write(`xds: ${who} is not connected; ${instead}\n`);
    return total > 0;
  } catch (cause) {
    if (!(cause instanceof CommandError) || io.interrupted.aborted) throw cause;
    io.stderr.write(`xds: ${cause.message}, so nobody knows ${who}; ${instead}\n`);
    return false;
  }
}

/** What the flags say of a node that is not connected, as query parameters. */
function descriptionOf({
  cluster,
  metadata = {},
  locality = {},
}: NodeResourcesFlags): Readonly<Record<string, Parameter>> {
  const pairs = Object.entries(metadata).map(([key, value]) => `${key}=${value}`);
  const place = formatLocality(locality);
  return {
    ...(cluster !== undefined && { cluster }),
    ...(pairs.length > 0 && { metadata: pairs }),
    ...(place !== "" && { locality: place }),
  };
}

type Parameter = string | readonly string[];

function formatLocality({ region = "", zone = "", sub_zone: subZone = "" }: Locality): string {
  return [region, zone, subZone].join("/").replace(/\/+$/, "");
}
