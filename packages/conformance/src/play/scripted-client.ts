import { anonymousNode, type Node, type Variant } from "@xdskit/protocol";
import type { NodeSpec, Request } from "../case.ts";
import { nameOfUrl, type TypeName, urlOf } from "../content/catalog.ts";
import type { PlainLocator, PlainRequest, PlainResponse } from "./driver.ts";
import type { Observed } from "./observed.ts";

/** The state of one type on one stream of a well-behaved client. */
interface TypeMemory {
  names: readonly string[];
  locators: readonly PlainLocator[];
  newest: PlainResponse | undefined;
  acceptedVersion: string;
}

/** The client's side of one stream: completes the requests that a case writes. */
export class ScriptedClientStream {
  readonly variant: Variant;
  readonly #defaultType: TypeName;
  readonly #node: NodeSpec;
  readonly #types = new Map<string, TypeMemory>();
  readonly #isPolled: boolean;
  #hasSpoken = false;
  #nodeId: string | undefined;

  constructor(variant: Variant, defaultType: TypeName, node: NodeSpec, isPolled: boolean) {
    this.#isPolled = isPolled;
    this.variant = variant;
    this.#defaultType = defaultType;
    this.#node = node;
  }

  take(response: PlainResponse): void {
    this.#memoryOf(nameOfUrl(response.typeUrl)).newest = response;
  }

  /** The id of the node in the first request; undefined before it and without a node. */
  get nodeId(): string | undefined {
    return this.#nodeId;
  }

  /** Whether the newest request of a type asks for a name. */
  wants(typeUrl: string, name: string): boolean {
    const { names } = this.#memoryOf(nameOfUrl(typeUrl));
    return names.length === 0 || names.includes("*") || names.includes(name);
  }

  compose(request: Request, observed: Observed): PlainRequest {
    const type = request.type ?? this.#defaultType;
    const typeUrl = request.typeUrl ?? (type === "" ? "" : urlOf(type));
    const memory = this.#memoryOf(typeUrl === "" ? this.#defaultType : nameOfUrl(typeUrl));
    const answered = this.#answeredBy(request, memory, observed);
    if (request.ack !== undefined && answered !== undefined) memory.acceptedVersion = answered.version;
    if (request.names !== undefined) memory.names = request.names;
    const locators = request.locators?.map(locatorOf);
    if (locators !== undefined) memory.locators = locators;
    const isSotw = this.variant === "sotw";
    const nonce = answered?.nonce ?? (isSotw && !this.#isPolled ? (memory.newest?.nonce ?? "") : "");
    return {
      typeUrl,
      node: this.#nodeOf(request),
      nonce: observed.resolve(request.nonce, "nonce") ?? nonce,
      error: request.error ?? (request.nack === undefined ? undefined : { code: 13, message: request.nack }),
      version: isSotw ? (observed.resolve(request.version, "version") ?? memory.acceptedVersion) : "",
      names: isSotw ? memory.names : [],
      locators: isSotw ? memory.locators : (locators ?? []),
      unsubscribeLocators: (request.unsubscribeLocators ?? []).map(locatorOf),
      subscribe: request.subscribe ?? [],
      unsubscribe: request.unsubscribe ?? [],
      initial: (request.initial ?? []).map((held) =>
        observed.heldVersion(type === "" ? this.#defaultType : type, held),
      ),
    };
  }

  #answeredBy(request: Request, memory: TypeMemory, observed: Observed): PlainResponse | undefined {
    if (typeof request.ack === "string") return observed.responseNamed(request.ack);
    if (request.of !== undefined) return observed.responseNamed(request.of);
    const isAnswer = request.ack !== undefined || request.nack !== undefined || request.error !== undefined;
    if (!isAnswer || request.nonce !== undefined) return undefined;
    if (memory.newest === undefined) throw new Error("the case answers a response, but none came before");
    return memory.newest;
  }

  #nodeOf(request: Request): Node | undefined {
    const spec = request.node ?? (this.#hasSpoken && !this.#isPolled ? "(none)" : this.#node);
    const node = toNode(spec);
    if (!this.#hasSpoken) this.#nodeId = node?.id;
    this.#hasSpoken = true;
    return node;
  }

  #memoryOf(type: string): TypeMemory {
    let memory = this.#types.get(type);
    if (memory === undefined) {
      memory = { names: [], locators: [], newest: undefined, acceptedVersion: "" };
      this.#types.set(type, memory);
    }
    return memory;
  }
}

/** Parses a locator `a {env=prod, zone=x}`. Throws for any other text. */
function locatorOf(text: string): PlainLocator {
  const [, name, inside] = /^(.*?) \{(.*)\}$/.exec(text) ?? [];
  if (name === undefined || inside === undefined)
    throw new Error(`expected a locator such as "a {env=prod}", got ${text}`);
  const pairs = inside.split(", ").filter((pair) => pair !== "");
  return { name, dynamicParameters: Object.fromEntries(pairs.map((pair) => pair.split("=", 2))) };
}

function toNode(spec: NodeSpec): Node | undefined {
  if (spec === "(none)") return undefined;
  const { id, agent = "", features = [] } = typeof spec === "string" ? { id: spec } : spec;
  return { ...anonymousNode, id, cluster: "conformance", userAgentName: agent, clientFeatures: features };
}
