import type { NodeId, TypeUrl } from "@xdskit/protocol";
import type { MeshNode, TypeKind } from "@xdskit/protocol/internal";
import { LayeredMap } from "./layered-map.ts";

/** Nodes at one moment; immutable once handed out. */
export interface StoredNodes {
  readonly byId: ReadonlyMap<NodeId, MeshNode>;
  /** By name; if several sources have the same name, all but the first are keyed by id. */
  readonly byKind: ReadonlyMap<TypeKind, ReadonlyMap<string, MeshNode>>;
}

/**
 * The nodes of a mesh. After nodes are handed out, the next change copies the kinds that change, at most once for each
 * time. A copy shares what it can, because a mesh of 100,000 nodes may change many times a second.
 */
export class NodeStore {
  readonly #kindOf: (type: TypeUrl) => TypeKind;
  #byId = LayeredMap.empty<MeshNode>();
  #byKind = new Map<TypeKind, LayeredMap<MeshNode>>();
  #handedOut = new Set<unknown>();

  constructor(kindOf: (type: TypeUrl) => TypeKind) {
    this.#kindOf = kindOf;
  }

  put(node: MeshNode): void {
    const nodes = this.#ownById();
    const names = this.#ownKind(this.#kindOf(node.type));
    names.set(keyIn(names, node), node);
    nodes.set(node.id, node);
  }

  delete(id: NodeId): void {
    const node = this.#byId.get(id);
    if (node === undefined) return;
    const names = this.#ownKind(this.#kindOf(node.type));
    names.delete(keyIn(names, node));
    this.#ownById().delete(id);
  }

  handOut(): StoredNodes {
    this.#handedOut = new Set<unknown>([this.#byId, this.#byKind, ...this.#byKind.values()]);
    return { byId: this.#byId, byKind: this.#byKind };
  }

  #ownById(): LayeredMap<MeshNode> {
    if (this.#handedOut.has(this.#byId)) this.#byId = this.#byId.copy();
    return this.#byId;
  }

  #ownKind(kind: TypeKind): LayeredMap<MeshNode> {
    if (this.#handedOut.has(this.#byKind)) this.#byKind = new Map(this.#byKind);
    const found = this.#byKind.get(kind);
    if (found !== undefined && !this.#handedOut.has(found)) return found;
    const own = found?.copy() ?? LayeredMap.empty<MeshNode>();
    this.#byKind.set(kind, own);
    return own;
  }
}

/** The key of a node. */
function keyIn(names: ReadonlyMap<string, MeshNode>, { id, name }: MeshNode): string {
  if (names.has(id)) return id;
  const holder = names.get(name);
  return holder === undefined || holder.id === id ? name : id;
}
