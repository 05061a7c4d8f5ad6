import type { MessageName, MessageTypes, TypedMessage } from "@xdskit/envoy-api/messages";
import type { TypedMessage as ReadMessage } from "@xdskit/envoy-api/read-messages";

export type {
  AnyMessage,
  envoy,
  JsonObject,
  JsonValue,
  MessageName,
  MessageTypes,
  TypedMessage,
} from "@xdskit/envoy-api/messages";
/** A message that is read: `TypedMessage` for programs that receive resources. */
export type { TypedMessage as ReadMessage } from "@xdskit/envoy-api/read-messages";

/**
 * Adds the `@type` of a message to its fields. The result is plain data in the JSON form of protobuf: a resource, or the value of a
 * `google.protobuf.Any` in another message.
 *
 * ```ts
 * Cluster({ name: "hello", connectTimeout: "1s" })
 * // { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "hello", connectTimeout: "1s" }
 * ```
 */
export interface MessageConstructor<N extends MessageName> {
  (fields: MessageTypes[N]): TypedMessage<N>;
  readonly typeUrl: `type.googleapis.com/${N}`;
  /** Exists only in the type: what the client library reads such a resource as. */
  readonly json?: ReadMessage<N>;
}

/** The same for a message without a constructor of its own, by its full name. */
export function message<N extends MessageName>(name: N, fields: MessageTypes[N]): TypedMessage<N> {
  // Without a compiler it may be anything; the letters of a string would become fields.
  const given: unknown = fields;
  if (typeof given === "string" || Array.isArray(given)) {
    const got = typeof given === "string" ? JSON.stringify(given) : "a list";
    throw new TypeError(`${name}: expected an object of fields, got ${got}`);
  }
  // The compiler cannot represent the spread of any of all messages.
  const made: unknown = { "@type": `type.googleapis.com/${name}`, ...(fields as object) };
  return made as TypedMessage<N>;
}

export function constructorOf<N extends MessageName>(name: N): MessageConstructor<N> {
  const construct = (fields: MessageTypes[N]): TypedMessage<N> => message(name, fields);
  return Object.assign(construct, { typeUrl: `type.googleapis.com/${name}` } as const);
}
