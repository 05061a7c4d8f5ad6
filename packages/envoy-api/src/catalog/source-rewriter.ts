import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { TypeUrl } from "@xdskit/protocol";
import type { Cluster } from "../../gen/types/envoy/config/cluster/v3/cluster_pb.d.ts";
import type { ConfigSource } from "../../gen/types/envoy/config/core/v3/config_source_pb.d.ts";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import {
  type AnyContent,
  type Content,
  DEEPEST_ANY,
  decodeAny,
  encodeContent,
  rememberDecoded,
} from "../format/content.ts";
import { forEachField, messagesIn } from "../format/present-field.ts";
import { isAskedOverXds } from "./config-source.ts";
import { fieldsOnTheWay, sourceBehind } from "./reference-reader.ts";
import { type ReferenceRule, referenceRules } from "./reference-rule.ts";
import { resourceType } from "./resource-type.ts";
import { scopedRouteConfiguration } from "./scoped-route-configuration.ts";

/** A fetch that a config source in a resource would cause. */
export interface SourceUse {
  /** Undefined if it is not known what is fetched. */
  readonly type: TypeUrl | undefined;
  /** Undefined if all resources of the type are fetched. */
  readonly name: string | undefined;
  /** The path of the source in the resource, in proto names. */
  readonly path: string;
}

/** A file that a client reads instead. */
export interface SourceFile {
  readonly path: string;
  /** A directory; the client reads the file again when something is moved into it. */
  readonly watchedDirectory?: string;
}

/** A resource with rewritten config sources. */
export interface RewrittenSources {
  /** The same object if nothing changed. */
  readonly bytes: Uint8Array;
  readonly rewritten: readonly SourceUse[];
  /** Sources that still use a server. */
  readonly kept: readonly SourceUse[];
}

const CONFIG_SOURCE = "envoy.config.core.v3.ConfigSource";
const PATH_CONFIG_SOURCE = "envoy.config.core.v3.PathConfigSource";
const WATCHED_DIRECTORY = "envoy.config.core.v3.WatchedDirectory";
const API_VERSION_V3 = 2;
const HTTP = "envoy.extensions.filters.network.http_connection_manager.v3";

/** What the config source in one field of a message fetches. */
interface SourceRule {
  readonly way: readonly DescField[];
  readonly type: TypeUrl;
  readonly nameIn: (content: Content) => string | undefined;
}

/** Replaces the config sources in resources by files. Understands v3 messages. */
export class SourceRewriter {
  readonly #schema: Schema;
  readonly #rules: ReadonlyMap<string, readonly SourceRule[]>;

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#rules = rulesFor(schema);
  }

  /**
   * Rewrites the content, which must be that of the bytes; `locate` returns the file to read, or undefined to keep the
   * source.
   */
  rewrite(
    message: DescMessage,
    content: Content,
    bytes: Uint8Array,
    locate: (use: SourceUse) => SourceFile | undefined,
  ): RewrittenSources {
    const walk = new Walk(this.#schema, this.#rules, locate);
    const isChanged = walk.visit(message, content, 0);
    const { rewritten, kept } = walk;
    return { bytes: isChanged ? encodeContent(message, content) : bytes, rewritten, kept };
  }
}

class Walk {
  readonly rewritten: SourceUse[] = [];
  readonly kept: SourceUse[] = [];
  readonly #schema: Schema;
  readonly #rules: ReadonlyMap<string, readonly SourceRule[]>;
  readonly #locate: (use: SourceUse) => SourceFile | undefined;
  readonly #path: string[] = [];
  /** Sources that a rule handled. */
  readonly #seen = new Set<Message>();

  constructor(
    schema: Schema,
    rules: ReadonlyMap<string, readonly SourceRule[]>,
    locate: (use: SourceUse) => SourceFile | undefined,
  ) {
    this.#schema = schema;
    this.#rules = rules;
    this.#locate = locate;
  }

  /** Visits a message and returns whether anything in it changed. */
  visit(message: DescMessage, content: Content, anyDepth: number): boolean {
    if (representationOf(message) === "any") return this.#any(content as unknown as AnyContent, anyDepth);
    if (message.typeName === CONFIG_SOURCE) {
      this.#unknownUse(content);
      return false;
    }
    let isChanged = false;
    for (const rule of this.#rules.get(message.typeName) ?? []) isChanged = this.#apply(rule, content) || isChanged;
    forEachField(this.#schema.shapeOf(message), content, (field, value) => {
      this.#path.push(field.name);
      for (const nested of messagesIn(field, value)) {
        if (nested.key !== undefined) this.#path.push(`[${nested.key}]`);
        if (field.message !== undefined) isChanged = this.visit(field.message, nested.content, anyDepth) || isChanged;
        if (nested.key !== undefined) this.#path.pop();
      }
      this.#path.pop();
    });
    return isChanged;
  }

  #any(any: AnyContent, anyDepth: number): boolean {
    const decoded = anyDepth < DEEPEST_ANY ? decodeAny(any, this.#schema) : undefined;
    if (decoded === undefined || !this.visit(decoded.message, decoded.content, anyDepth + 1)) return false;
    any.value = encodeContent(decoded.message, decoded.content);
    rememberDecoded(any, decoded);
    return true;
  }

  #apply({ way, type, nameIn }: SourceRule, content: Content): boolean {
    const source = sourceBehind(content, way);
    if (source === undefined) return false;
    this.#seen.add(source);
    if (!isAskedOverXds(source)) return false;
    const path = formatPath([...this.#path, ...way.map(({ name }) => name)]);
    const use = { type, name: nameIn(content), path };
    const file = this.#locate(use);
    if (file === undefined) {
      this.kept.push(use);
      return false;
    }
    this.#point(source, file);
    this.rewritten.push(use);
    return true;
  }

  #point(source: ConfigSource, { path, watchedDirectory }: SourceFile): void {
    const value = create(this.#message(PATH_CONFIG_SOURCE)) as Content;
    value["path"] = path;
    if (watchedDirectory !== undefined) {
      const watched = create(this.#message(WATCHED_DIRECTORY)) as Content;
      watched["path"] = watchedDirectory;
      value["watchedDirectory"] = watched;
    }
    const changed = source as unknown as Content;
    changed["configSourceSpecifier"] = { case: "pathConfigSource", value };
    changed["resourceApiVersion"] = API_VERSION_V3;
  }

  #unknownUse(content: Content): void {
    const source = content as unknown as ConfigSource;
    if (this.#seen.has(source) || !isAskedOverXds(source)) return;
    this.kept.push({ type: undefined, name: undefined, path: formatPath(this.#path) });
  }

  #message(name: string): DescMessage {
    const message = this.#schema.message(name);
    if (message === undefined) throw new Error(`the descriptors lack ${name}`);
    return message;
  }
}

function rulesFor(schema: Schema): ReadonlyMap<string, readonly SourceRule[]> {
  const rules = new Map<string, SourceRule[]>();
  const add = (message: string, source: string, type: TypeUrl, nameIn: SourceRule["nameIn"]): void => {
    const found = schema.message(message);
    const way = found === undefined ? [] : fieldsOnTheWay(found, source, schema);
    if (way.length === source.split(".").length)
      rules.set(message, [...(rules.get(message) ?? []), { way, type, nameIn }]);
  };
  for (const rule of referenceRules) {
    if (rule.source !== undefined) add(rule.message, rule.source, rule.refersTo, (content) => textIn(content, rule));
  }
  add(
    "envoy.config.cluster.v3.Cluster",
    "eds_cluster_config.eds_config",
    resourceType.clusterLoadAssignment,
    (content) => {
      const { name, edsClusterConfig } = content as unknown as Cluster;
      return edsClusterConfig?.serviceName || name;
    },
  );
  add("envoy.config.route.v3.RouteConfiguration", "vhds.config_source", resourceType.virtualHost, () => undefined);
  add(`${HTTP}.ScopedRds`, "scoped_rds_config_source", scopedRouteConfiguration.type, () => undefined);
  add(`${HTTP}.ScopedRoutes`, "rds_config_source", resourceType.routeConfiguration, () => undefined);
  return rules;
}

function textIn(content: Content, { field }: ReferenceRule): string {
  const name = field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return String(content[name]);
}

function formatPath(parts: readonly string[]): string {
  return parts.join(".").replaceAll(".[", "[");
}
