import type { EnvoyApi } from "@xdskit/envoy-api";
import { anonymousNode, messageNameOf, type Node, type TypeUrl } from "@xdskit/protocol";
import { dialectFor, judgeTtl, opaqueTraits, quote, shownName, type TtlStream } from "@xdskit/protocol/internal";
import type { DecodedResource } from "./decoded-resource.ts";
import { type FileChunk, rememberFor } from "./file-chunks.ts";
import type { CrossProblem, Origin } from "./file-content.ts";

const envoy: Node = { ...anonymousNode, userAgentName: "envoy" };
const STREAMS: Readonly<Record<TtlStream, string>> = {
  delta: "in delta",
  sotw: "in State of the World",
  "aggregated-sotw": "on an aggregated State of the World stream",
};

const resourcesWithTtl = rememberFor(({ files }) => {
  const found: Omit<Origin & DecodedResource, "text">[] = [];
  for (const file of files)
    for (const { resource, place } of file.content.resources)
      if (resource.ttlMs !== undefined) found.push({ file, resource, place });
  return found;
});

/** Warns, once per type, of TTLs that clients do not receive although they support TTLs (client-behaviours E6). */
export function checkTtls(chunks: readonly FileChunk[], api: EnvoyApi): readonly CrossProblem[] {
  const problems: CrossProblem[] = [];
  const looked = new Set<TypeUrl>();
  for (const chunk of chunks) {
    for (const { file, resource, place } of resourcesWithTtl(chunk)) {
      const { type, name } = resource;
      if (looked.has(type)) continue;
      looked.add(type);
      const clients = clientsWithout(type, api);
      if (clients === undefined) continue;
      const message = messageNameOf(type);
      problems.push({
        code: "TTL_LEFT_OFF",
        severity: "warning",
        message: `${message.slice(message.lastIndexOf(".") + 1)} ${quote(shownName(name))} has a ttl that is left off for ${clients}`,
        hint: "they are served it as one that does not expire; nothing is wrong if that will do",
        at: { file, place, text: resource.variant?.name ?? name },
      });
    }
  }
  return problems;
}

function clientsWithout(type: TypeUrl, api: EnvoyApi): string | undefined {
  const traits = api.traits(type) ?? opaqueTraits(type);
  const isTold = (node: Node, stream: TtlStream): boolean =>
    judgeTtl(dialectFor(node, { server: { dialect: { ttlWithoutFeature: true } } }), node, traits, stream, "v3") ===
    "told";
  const streams: readonly TtlStream[] = ["delta", "sotw", "aggregated-sotw"];
  if (!streams.some((stream) => isTold(anonymousNode, stream))) return "every client: nothing could keep it alive";
  const without = streams.filter((stream) => !isTold(envoy, stream));
  if (without.length === 0) return undefined;
  const where = without.length === streams.length ? "" : ` ${without.map((stream) => STREAMS[stream]).join(" and ")}`;
  return `Envoy${where}: its end would break it`;
}
