import type { Dialect } from "../../dialect/dialect.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import type { Variant } from "../../message/variant.ts";
import type { ApiVersion } from "../../resource/api-version.ts";
import { isOfV2 } from "../../resource/type-url.ts";
import type { View } from "../../state/view.ts";
import type { StreamOpened } from "../contract/event.ts";
import type { ResourceErrorState } from "../contract/inspect.ts";
import { LazyMap } from "../memory/lazy.ts";
import { type ErrorFlush, SentErrors } from "../type/sent-errors.ts";
import type { PendingResponse, TypeStream } from "../type/type-stream.ts";

/** How many errors of a type people are shown. */
const ERRORS_SHOWN = 100;

/** The `resource_errors` that one client was sent, for every type that ever had an error. */
export class StreamErrors {
  readonly #variant: Variant;
  readonly #apiVersion: ApiVersion;
  readonly #dialect: Dialect;
  readonly #sent = new LazyMap<TypeStream, SentErrors>();

  constructor({ variant, apiVersion }: Pick<StreamOpened, "variant" | "apiVersion">, dialect: Dialect) {
    this.#variant = variant;
    this.#apiVersion = apiVersion;
    this.#dialect = dialect;
  }

  /** Whether no type of the client ever had an error. */
  get isEmpty(): boolean {
    return this.#sent.size === 0;
  }

  /** Whether a type ever had an error that its client is sent, or has one now. */
  mayHaveErrors(type: TypeStream, view: View): boolean {
    return this.#sent.has(type) || this.#isAny(type, view);
  }

  /** How many names are kept to tell which errors a client forgets, as limits count them. */
  get namesKept(): number {
    let count = 0;
    for (const sent of this.#sent.values()) count += sent.namesKept;
    return count;
  }

  /** A client forgets the errors of names that it gives up. */
  onRequest(type: TypeStream, request: DiscoveryRequest): void {
    if (this.#sent.size > 0) this.#sent.get(type)?.onRequest(request, type.subscription);
  }

  /** Adds to the answers the errors that the client needs. */
  add(
    type: TypeStream,
    answers: readonly PendingResponse[],
    moment: Omit<ErrorFlush, "dialect">,
  ): readonly PendingResponse[] {
    const sent = this.#sent.get(type) ?? this.#begin(type, moment);
    return sent === undefined ? answers : sent.add(answers, type, { ...moment, dialect: this.#dialect });
  }

  /** The errors of one type that the client was sent; at most 100. */
  describe(type: TypeStream): readonly ResourceErrorState[] {
    const sent = this.#sent.get(type)?.sent.values() ?? [];
    return [...sent]
      .slice(0, ERRORS_SHOWN)
      .flatMap(({ name, error }) => (error === undefined ? [] : [{ name, error }]));
  }

  /** Messages of API version 2 have no field for errors, so types of that version are sent without errors too. */
  #begin(type: TypeStream, { current }: Pick<ErrorFlush, "current">): SentErrors | undefined {
    if (!this.#isAny(type, current.view)) return undefined;
    const sent = new SentErrors(this.#variant, this.#dialect.ignoreHints);
    this.#sent.set(type, sent);
    return sent;
  }

  #isAny({ traits: { type } }: TypeStream, view: View): boolean {
    const { resourceErrors } = this.#dialect;
    const isAny = resourceErrors === "failed-and-missing" || view.errors(type).size > 0;
    return isAny && resourceErrors !== "off" && this.#apiVersion !== "v2" && !isOfV2(type);
  }
}
