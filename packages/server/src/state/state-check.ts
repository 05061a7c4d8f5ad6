import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Resource } from "@xdskit/protocol";
import {
  type CrossProblem,
  checkReferences,
  checkTtls,
  type LayerFile,
  ListenerAddresses,
} from "@xdskit/source/checks";
import type { ResourceProblem } from "../error.ts";
import type { ReadInput } from "./resource-input.ts";

/**
 * Checks the resources of layers as files are checked: validation rules, dangling references, listeners that share an
 * address.
 */
export class StateCheck {
  readonly #api: EnvoyApi;
  readonly #addresses: ListenerAddresses;

  constructor(api: EnvoyApi) {
    this.#api = api;
    this.#addresses = new ListenerAddresses(api);
  }

  /** Problems of single resources first, then those between resources. */
  find(entries: Iterable<ReadInput & { readonly layer: string }>): readonly ResourceProblem[] {
    const problems: ResourceProblem[] = [];
    const files: LayerFile[] = [];
    // One file per resource, so that each problem identifies its resource.
    const resources = new Map<LayerFile, Resource>();
    for (const { layer, resource, warnings, isJsonSpelled } of entries) {
      problems.push(...warnings);
      const content = { resources: [{ resource, place: undefined, isJsonSpelled }], problems: [], refused: [] };
      const file = { file: resource.name, layer, content };
      files.push(file);
      resources.set(file, resource);
    }
    const chunks = [{ files }];
    const between = [
      ...checkReferences(chunks, this.#api),
      ...this.#addresses.checkNow(chunks),
      ...checkTtls(chunks, this.#api),
    ];
    const identityOf = (file: LayerFile): Required<NonNullable<ResourceProblem["related"]>>[] => {
      const resource = resources.get(file);
      return resource === undefined ? [] : [{ layer: file.layer, type: resource.type, name: resource.name }];
    };
    for (const problem of between) for (const one of resourceProblem(problem, identityOf)) problems.push(one);
    return problems;
  }
}

type Identity = Required<NonNullable<ResourceProblem["related"]>>;

function resourceProblem(
  { code, severity, message, hint, at, related }: CrossProblem,
  identityOf: (file: LayerFile) => readonly Identity[],
): readonly ResourceProblem[] {
  const [other] = related === undefined ? [] : identityOf(related.file);
  return identityOf(at.file).map((identity) => ({
    ...identity,
    path: "",
    code,
    severity,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(other === undefined ? {} : { related: other }),
  }));
}

/** The problem of a layer that the default node mapping shows to nobody. */
export function unseenLayer(layer: string): ResourceProblem {
  return {
    layer,
    path: "",
    code: "LAYER_UNSEEN",
    severity: "warning",
    message: `no node sees the layer ${JSON.stringify(layer)}: without a nodeMapping, nodes see only "base"`,
    hint: 'pass a nodeMapping that names the layer, or put the resources into "base"',
  };
}
