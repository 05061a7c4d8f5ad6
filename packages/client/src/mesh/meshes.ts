import type { EnvoyApi } from "@xdskit/envoy-api";
import { Cluster, Listener, Runtime } from "@xdskit/envoy-api/resources";
import type { SourceId, TypeUrl } from "@xdskit/protocol";
import { listenerOfTarget } from "../config/authority.ts";
import type { ClientConfig, SourceConfig } from "../config/client-config.ts";
import type { ConfigDefaults } from "../config/config-defaults.ts";
import type { Driver } from "../driver/driver.ts";
import { tell } from "../observe/tell.ts";
import { kindOf } from "../resource/kind-of.ts";
import { type TypeOrUrl, typeUrlOf } from "../resource/resource-type.ts";
import type { ResourceViews } from "../resource/xds-resource.ts";
import { everythingOf, noSource, sourceOf, typeAt } from "../routing/route.ts";
import type { KeepAlive } from "../watch/keep-alive.ts";
import { type Mesh, type MeshOptions, OpenMesh, type Root } from "./mesh.ts";
import { StaticResources, staticSource } from "./static-source.ts";

/** What meshes need. */
export interface MeshesParts {
  readonly api: EnvoyApi;
  readonly config: ClientConfig;
  /** Defaults for config sources in resources. */
  readonly defaults: ConfigDefaults;
  readonly driver: Pick<Driver, "watch" | "warmingEnded">;
  readonly views: ResourceViews;
  readonly vigil: KeepAlive;
}

/** The meshes of one client. */
export class Meshes {
  readonly #parts: MeshesParts;
  readonly #statics: StaticResources;
  readonly #open = new Set<OpenMesh>();

  constructor(parts: MeshesParts) {
    this.#parts = parts;
    this.#statics = new StaticResources(parts.config.staticResources, parts.api);
  }

  /** A mesh of some resources, or, without a name, of all resources of a type. */
  resolve(type: TypeOrUrl, names: string | readonly string[] | undefined, options: MeshOptions): Mesh {
    const typeUrl = typeUrlOf(type);
    const all = typeof names === "object" ? names : [names];
    return this.#start(
      "non-proxy",
      all.flatMap((name) => this.#rootsNamed(typeUrl, name)),
      options,
    );
  }

  #rootsNamed(type: TypeUrl, name: string | undefined): readonly Root[] {
    const { api, config } = this.#parts;
    if (name !== undefined && this.#statics.owns(type, name)) return [{ source: staticSource, type, term: name }];
    const kind = kindOf(type, api);
    const isTarget = name !== undefined && kind === "lds";
    const listener = isTarget ? listenerOfTarget(name, config) : name;
    const root = isTarget && listener === undefined ? undefined : this.#root(type, listener);
    const statics = name === undefined && (kind === "cds" || kind === "lds") ? this.#staticRoots(kind) : [];
    if (root === undefined && statics.length === 0) throw noSource(config, type, name);
    return [...statics, ...(root === undefined ? [] : [root])];
  }

  /**
   * A mesh of all Clusters and Listeners and the runtime layers: the static ones, and those with a source in the
   * configuration. A configuration with no source for either and no static Listener uses its servers.
   */
  all(options: MeshOptions): Mesh {
    const { clusters, listeners, runtimeLayers } = this.#parts.config;
    const ownClusters = this.#staticRoots("cds");
    const ownListeners = this.#staticRoots("lds");
    const isAnywhere = clusters === undefined && listeners === undefined && ownListeners.length === 0;
    const hasClusters = isAnywhere || clusters !== undefined;
    const hasListeners = isAnywhere || listeners !== undefined;
    const layers = runtimeLayers.map(({ name, source }) => this.#rootAt(source, Runtime.typeUrl, name));
    const first = hasClusters ? this.#root(Cluster.typeUrl, undefined) : undefined;
    const last = hasListeners ? this.#root(Listener.typeUrl, undefined) : undefined;
    const isLast = options.listeners !== "at-once";
    const roots = [
      ...layers,
      ...ownClusters,
      ...(first === undefined ? [] : [first]),
      ...[...ownListeners, ...(last === undefined ? [] : [last])].map((root) => ({ ...root, isLast })),
    ];
    if (roots.length === 0) throw noSource(this.#parts.config, Listener.typeUrl, undefined);
    return this.#start("proxy", roots, options);
  }

  /** ACKs that waited for warming at a source may be sent now if nothing there is warming (C-ACK-15). */
  lookAtWarming(source: SourceId): void {
    queueMicrotask(() => this.#endWarming(source));
  }

  /** Why an extension config does not fit where a mesh uses it (C-ECD-04); undefined: it fits, or no mesh uses it. */
  extensionProblem(type: TypeUrl, name: string, bytes: Uint8Array): string | undefined {
    if (this.#open.size === 0) return undefined;
    const configured = this.#parts.api.configuredType(type, bytes);
    for (const { runner } of this.#open) {
      const problem = runner.problemWith(type, name, configured);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  close(): void {
    for (const mesh of [...this.#open]) mesh.close();
  }

  #start(mode: "proxy" | "non-proxy", roots: readonly Root[], options: MeshOptions): Mesh {
    const { api, config, defaults, driver, views, vigil } = this.#parts;
    const mesh: OpenMesh = new OpenMesh({
      ground: {
        api,
        config,
        defaults,
        statics: this.#statics,
        driver: {
          watch: (interest, listener) => driver.watch(interest, listener),
          warmingEnded: (source) => this.#endWarming(source),
        },
        report: (report) => tell(options.onReport, report),
      },
      views,
      vigil,
      options,
      mode,
      roots,
      clusterSource: (name) =>
        this.#statics.owns(Cluster.typeUrl, name) ? staticSource : sourceOf(config, "cds", name),
      closed: () => {
        this.#open.delete(mesh);
      },
    });
    this.#open.add(mesh);
    mesh.start();
    return mesh;
  }

  #endWarming(source: SourceId): void {
    for (const { runner } of this.#open) if (runner.isWarming(source)) return;
    this.#parts.driver.warmingEnded(source);
  }

  #root(type: TypeUrl, name: string | undefined): Root | undefined {
    const { api, config } = this.#parts;
    const kind = kindOf(type, api);
    const term = name ?? everythingOf(config, kind);
    const source = sourceOf(config, kind, term);
    return source && this.#rootAt(source, type, term);
  }

  #staticRoots(kind: "cds" | "lds"): readonly Root[] {
    const type = this.#statics.typeOf(kind);
    return type === undefined ? [] : [{ source: staticSource, type, term: "*" }];
  }

  #rootAt(source: SourceConfig, type: TypeUrl, term: string): Root {
    return { source, type: typeAt(source, type, this.#parts.api.traits(type)), term };
  }
}
