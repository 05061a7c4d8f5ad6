import type { Dialect } from "../../dialect/dialect.ts";
import type { Body } from "../../message/body.ts";
import type { Node } from "../../node/node.ts";
import type { TypeTraits } from "../../resource/type-traits.ts";
import { absencesIn } from "../ack/absences.ts";
import { sizeOf } from "../ack/body-names.ts";
import type { Delivery } from "../ack/delivery.ts";
import { cutFor, type ResponseSplitter } from "../cache/split.ts";
import type { Conversion } from "../contract/conversion.ts";
import type { Report, ServerEffect } from "../contract/effect.ts";
import type { StreamId } from "../contract/event.ts";
import type { PendingResponse, TypeStream } from "../type/type-stream.ts";

/** When an answer is sent. */
export interface FlushMoment {
  readonly revision: number;
  /** The revision that the client had before; undefined: it was sent nothing. */
  readonly toldTo: number | undefined;
  /** The number of the answer, over all streams of the client. */
  readonly at: number;
}

/** The client, and how responses are made for it. */
export interface Recipient {
  readonly node: Node;
  readonly dialect: Dialect;
  /** Converts bodies before they are sent; undefined: no conversion. */
  readonly conversion?: Conversion | undefined;
}

const everyName = { has: () => true };

/** Sends the responses of one stream: converted and split for its client, each with its own nonce (S-NON-01). */
export class Sending {
  readonly #stream: StreamId;
  readonly #recipient: Recipient;
  #lastNonce = 0;

  constructor(stream: StreamId, recipient: Recipient) {
    this.#stream = stream;
    this.#recipient = recipient;
  }

  /** The bodies of the responses that an answer consists of, in order. */
  partsOf(body: Body, traits: TypeTraits, parts: ResponseSplitter): readonly Body[] {
    const converted = this.#convert(body);
    const cut = cutFor(body.variant, traits, this.#recipient.dialect);
    return cut === undefined ? [converted] : parts.of(converted, cut);
  }

  /** Sends an answer or one part of it. */
  respond(
    type: TypeStream,
    { body, isInOrder: isInTurn, asked, newToClient }: PendingResponse,
    moment: FlushMoment,
    effects: ServerEffect[],
  ): Delivery {
    const { revision, toldTo, at } = moment;
    const nonce = String(++this.#lastNonce);
    const delivery: Delivery = {
      nonce,
      body,
      revision,
      // What is sent is of this revision, so the client had at most the one before.
      from: isInTurn && toldTo !== undefined ? Math.min(toldTo, revision - 1) : undefined,
      at,
      isInTurn,
      asked: type.subscription.scope,
    };
    // In the answer to listed versions all removals are of names that the client listed.
    const answered = body.variant === "delta" && newToClient !== undefined ? everyName : asked;
    const absences = absencesIn(body, answered, (name) => type.subscription.termsNamed(name).length > 0);
    if (absences !== undefined) delivery.absences = absences;
    type.deliveries.open(delivery);
    const stream = this.#stream;
    const { type: url, version } = body;
    const { resources, removed } = sizeOf(body);
    const { node } = this.#recipient;
    // No spreads: every stream has one of these for every change.
    const report: Report = {
      kind: "response-sent",
      stream,
      node,
      type: url,
      nonce,
      version,
      revision,
      resources,
      removed,
    };
    effects.push({ kind: "send", stream, body, nonce }, { kind: "report", report });
    return delivery;
  }

  /** Sends a heartbeat. */
  beat(type: TypeStream, held: Body, { revision, at }: Omit<FlushMoment, "toldTo">, effects: ServerEffect[]): void {
    const body = this.#convert(held);
    const nonce = String(++this.#lastNonce);
    type.deliveries.open({ nonce, body, revision, from: undefined, at, isInTurn: false, isHeartbeat: true });
    const stream = this.#stream;
    const about = { stream, node: this.#recipient.node, type: body.type, nonce, version: body.version };
    const report: Report = { kind: "heartbeat-sent", ...about, resources: sizeOf(body).resources };
    effects.push({ kind: "send", stream, body, nonce }, { kind: "report", report });
  }

  #convert(body: Body): Body {
    return this.#recipient.conversion?.body(body) ?? body;
  }
}
