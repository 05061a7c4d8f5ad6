import { messageNameOf } from "@xdskit/protocol";
import type { Dependency, DependencySource, HandedDown } from "@xdskit/protocol/internal";
import type { Cluster } from "../../gen/types/envoy/config/cluster/v3/cluster_pb.d.ts";
import type { ConfigSource } from "../../gen/types/envoy/config/core/v3/config_source_pb.d.ts";
import type { Schema } from "../descriptor/schema.ts";
import { type Content, type Decoded, encodeContent } from "../format/content.ts";
import { encodeBase64 } from "../platform.ts";
import { cluster } from "./cluster.ts";
import { fetchTimeoutMs } from "./config-source.ts";
import { dependencyRules, type Want } from "./dependency-rule.ts";
import { type FindingReader, MessageVisits } from "./message-visits.ts";
import { referenceReaders } from "./reference-reader.ts";
import { resourceType } from "./resource-type.ts";
import { scopedRouteConfiguration } from "./scoped-route-configuration.ts";

const CONFIG_SOURCE = "envoy.config.core.v3.ConfigSource";

/**
 * Finds the dependencies of a resource: their sources, and whether a client waits for them. Understands v3 messages.
 */
export class DependencyReader {
  readonly #schema: Schema;
  readonly #visits: MessageVisits<Want>;

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#visits = new MessageVisits(schema, wantReaders(schema), []);
  }

  /** Each type, name and source once, in order of occurrence. */
  read({ message, content }: Decoded): readonly Dependency[] {
    const wants: Want[] = [];
    this.#visits.visit(message, content, { findings: wants, onChecked: () => {} });
    const isScope = message.typeName === messageNameOf(scopedRouteConfiguration.type);
    const found = wants
      // Scopes inside a listener get their dependencies from the enclosing message, which has the source.
      .filter(({ from, name }) => name !== "" && (from !== "parent" || isScope))
      .flatMap((want) => this.#dependencyOf(want));
    return distinct(found);
  }

  loadServer({ message, content }: Decoded): DependencySource | undefined {
    if (message.typeName !== messageNameOf(cluster.type)) return undefined;
    return this.#sourceOf((content as unknown as Cluster).lrsServer);
  }

  #dependencyOf({ from, handsDown, ...want }: Want): readonly Dependency[] {
    if (typeof from === "string") return [{ timeoutMs: 0, ...want, source: { kind: from } }];
    const source = this.#sourceOf(from);
    if (source === undefined || from === undefined) return [];
    const down = handsDown && this.#handedDown(handsDown);
    return [{ timeoutMs: fetchTimeoutMs(from), ...want, source, ...(down !== undefined && { handsDown: down }) }];
  }

  #handedDown(source: ConfigSource): HandedDown | undefined {
    const down = this.#sourceOf(source);
    return down && { source: down, timeoutMs: fetchTimeoutMs(source) };
  }

  #sourceOf(source: ConfigSource | undefined): DependencySource | undefined {
    const message = this.#schema.message(CONFIG_SOURCE);
    switch (source?.configSourceSpecifier.case) {
      case "ads":
      case "self":
        return { kind: source.configSourceSpecifier.case };
      case "apiConfigSource":
        return message && { kind: "api", bytes: encodeContent(message, source) };
      case "path":
      case "pathConfigSource":
        return message && { kind: "path", bytes: encodeContent(message, source) };
      default:
        return undefined;
    }
  }
}

/** Readers by full message name, for messages with a config source and messages that name a Cluster. */
function wantReaders(schema: Schema): ReadonlyMap<string, readonly FindingReader<Want>[]> {
  const readers = new Map<string, FindingReader<Want>[]>();
  const add = (message: string, reader: FindingReader<Want>): void => {
    readers.set(message, [...(readers.get(message) ?? []), reader]);
  };
  for (const { message, wantsIn } of dependencyRules) {
    if (schema.message(message) !== undefined)
      add(message, (content, wants) => {
        for (const want of wantsIn(content)) wants.push(want);
      });
  }
  for (const [message, readersOfMessage] of referenceReaders(schema, [])) {
    add(message, (content, wants) => {
      for (const want of clustersNamedBy(content, readersOfMessage)) wants.push(want);
    });
  }
  return readers;
}

type NamesReader = ReturnType<typeof referenceReaders> extends ReadonlyMap<string, infer Readers> ? Readers : never;

/** Many messages name Clusters, and nothing waits for them (C-WRM-06). References with a source have their own rule. */
function clustersNamedBy(content: Content, readers: NamesReader): readonly Want[] {
  const references: Parameters<NamesReader[number]>[1] = [];
  for (const read of readers) read(content, references);
  return references
    .filter(({ type }) => type === resourceType.cluster)
    .map(({ type, name }) => ({ type, name, from: "roots", warms: false, fetched: "at-once" }));
}

/** Removes duplicates; a dependency warms if one of them does. */
function distinct(found: readonly Dependency[]): readonly Dependency[] {
  const seen = new Map<string, Dependency>();
  for (const one of found) {
    const key = `${one.type} ${one.name} ${sourceKey(one.source)} ${sourceKey(one.handsDown?.source)}`;
    const before = seen.get(key);
    if (before === undefined || (one.warms && !before.warms)) seen.set(key, one);
  }
  return [...seen.values()];
}

function sourceKey(source: DependencySource | undefined): string {
  if (source === undefined) return "";
  return "bytes" in source ? `${source.kind} ${encodeBase64(source.bytes)}` : source.kind;
}
