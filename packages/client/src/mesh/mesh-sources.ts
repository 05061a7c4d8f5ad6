import type { EnvoyApi } from "@xdskit/envoy-api";
import type { SourceId, TypeUrl } from "@xdskit/protocol";
import { type Dependency, isOfV2, typeInName } from "@xdskit/protocol/internal";
import { alternativesOf, authorityFor, isOfGrpc, type NameAtSource } from "../config/authority.ts";
import type { AuthoritySource, ClientConfig, SourceConfig } from "../config/client-config.ts";
import type { ConfigDefaults } from "../config/config-defaults.ts";
import { resolveConfigSource } from "../config/resolve-config-source.ts";
import { kindOf } from "../resource/kind-of.ts";
import { sourceOf } from "../routing/route.ts";
import { type MeshSource, STATIC_SOURCE, type StaticResources } from "./static-source.ts";

/** What resolving the sources of a mesh needs. */
export interface MeshSourcesParts {
  readonly api: EnvoyApi;
  readonly config: ClientConfig;
  /** Defaults for config sources in resources. */
  readonly defaults: ConfigDefaults;
  readonly statics: StaticResources;
}

/** A name to find a source for. */
export interface Placed {
  readonly type: TypeUrl;
  readonly name: string;
  /** Its source was given explicitly, so its authority does not count. */
  readonly isThere: boolean;
}

/** The limit of sources named by resources that are kept without a look at whether anything uses them. */
const MOST_UNCHECKED = 100;

/** The sources of a mesh by id, including those that config sources in resources name. */
export class MeshSources {
  readonly #api: EnvoyApi;
  readonly #config: ClientConfig;
  readonly #defaults: ConfigDefaults;
  readonly #statics: StaticResources;
  readonly #known = new Map<SourceId, SourceConfig>();
  /** Those that only resources name: they may be ever new ones. */
  readonly #found = new Map<SourceId, SourceConfig>();
  #tidyAt = MOST_UNCHECKED;

  constructor({ api, config, defaults, statics }: MeshSourcesParts) {
    this.#api = api;
    this.#config = config;
    this.#defaults = defaults;
    this.#statics = statics;
  }

  add(source: MeshSource): SourceId {
    if (source.kind !== "static") this.#known.set(source.id, source);
    return source.id;
  }

  /** Undefined for resources in the bootstrap, which have no server. */
  get(id: SourceId): SourceConfig | undefined {
    return this.#known.get(id) ?? this.#found.get(id);
  }

  /** Whether there are many named by resources since the last `tidy`. */
  get isUntidy(): boolean {
    return this.#found.size > this.#tidyAt;
  }

  /** Forgets those named by resources that are not used. */
  tidy(used: Iterable<SourceId>): void {
    const inUse = new Set(used);
    for (const id of this.#found.keys()) if (!inUse.has(id)) this.#found.delete(id);
    this.#tidyAt = 2 * this.#found.size + MOST_UNCHECKED;
  }

  /** The source of a dependency of a resource from source `from`; undefined: none. */
  resolve({ source, type, name }: Dependency, from: SourceId): SourceId | undefined {
    if (source.kind === "static" || this.#statics.owns(type, name)) return STATIC_SOURCE;
    const found = this.#find(source, type, name, this.get(from));
    if (found === undefined) return undefined;
    if (!this.#known.has(found.id)) this.#found.set(found.id, found);
    return found.id;
  }

  /**
   * The places of a name requested at `from`, or referred to by a resource from there; best first, alternatives after
   * it (C-XTP-11).
   */
  placesOf({ type, name, isThere }: Placed, from: SourceId): readonly NameAtSource[] {
    const own = isThere ? this.get(from) : this.#nextTo(from, type, name);
    const places = own === undefined ? [] : [{ source: own, name }];
    const others = alternativesOf(name).flatMap((other) => {
      const source = this.#nextTo(from, type, other);
      return source === undefined ? [] : [{ source, name: other }];
    });
    return [...places, ...others];
  }

  #nextTo(from: SourceId, type: TypeUrl, name: string): SourceConfig | undefined {
    return this.#find({ kind: "self" }, type, name, this.get(from));
  }

  #find(
    source: Dependency["source"],
    type: TypeUrl,
    name: string,
    self: SourceConfig | undefined,
  ): SourceConfig | undefined {
    switch (source.kind) {
      case "ads":
        return this.#forName(name, this.#config.ads && plain(this.#config.ads));
      case "self":
        return this.#forName(name, self && plain(self));
      case "api":
      case "path": {
        const version = isOfV2(type) ? "v2" : "v3";
        const site = { api: this.#api, config: this.#config, defaults: this.#defaults, self, type, version } as const;
        const { resolved } = resolveConfigSource(source.bytes, site);
        return this.#forName(name, resolved);
      }
      case "roots":
        return sourceOf(this.#config, kindOf(type, this.#api), name);
      case "parent":
      case "static":
        return undefined;
      default:
        return source satisfies never;
    }
  }

  /**
   * The source of an xdstp name is that of its authority (C-XTP-08). An unknown authority leaves it at the given
   * source, or, for gRPC clients, without a source (A47).
   */
  #forName(name: string, said: AuthoritySource | undefined): SourceConfig | undefined {
    if (typeInName(name) === undefined) return said?.source;
    return authorityFor(name, this.#config, said) ?? (isOfGrpc(this.#config) ? undefined : said?.source);
  }
}

function plain(source: SourceConfig): AuthoritySource {
  return { authorities: [], source };
}
