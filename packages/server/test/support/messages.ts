import { formatTypeUrl } from "@xdskit/protocol";
import { testApi } from "./test-server.ts";

/** An encoded message, from JSON. */
export function encoded(messageName: string, value: unknown): Uint8Array {
  const { bytes, problems } = testApi().readMessage(messageName, value);
  if (bytes === undefined || problems.length > 0) throw new Error(problems.map(({ message }) => message).join("; "));
  return bytes;
}

/** The canonical JSON of a message, without its type. */
export function decoded(messageName: string, bytes: Uint8Array): Record<string, unknown> {
  const json = testApi().toJson(formatTypeUrl(messageName), bytes);
  const { "@type": _, ...fields } = Object(json) as Record<string, unknown>;
  return fields;
}
