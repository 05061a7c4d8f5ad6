import { type ApiVersion, formatTypeUrl } from "@xdskit/protocol";
import type { StaticResource } from "./client-config.ts";
import { type MessageReading, readMessage } from "./message-reader.ts";
import { at, listOf, type Place, textOf } from "./place.ts";
import { Problems } from "./problems.ts";

const messageNames = { v2: "envoy.api.v2.Listener", v3: "envoy.config.listener.v3.Listener" } as const;

/**
 * Reads the static Listeners as far as possible: mistakes in them concern Envoy and are warnings here. Of several with
 * the same name the first counts, as in Envoy. A Listener without a name is named after its path.
 */
export function readStaticListeners(
  list: Place,
  {
    reading,
    version,
    problems,
  }: { readonly reading: MessageReading; readonly version: ApiVersion; readonly problems: Problems },
): readonly StaticResource[] {
  const listeners = new Map<string, StaticResource>();
  for (const [index, place] of listOf(list).entries()) {
    const own = new Problems();
    const message = readMessage(messageNames[version], place, reading, own);
    problems.takeOver(own, "warning");
    if (message === undefined) continue;
    const { bytes } = message;
    const name = textOf(at(message.place, "name")) || `static_resources.listeners[${index}]`;
    if (listeners.has(name)) {
      const path = [...place.path, "name"];
      problems.warning(path, `expected another name: an Envoy passes over a second listener ${JSON.stringify(name)}`);
    } else listeners.set(name, { type: formatTypeUrl(messageNames[version]), name, bytes });
  }
  return [...listeners.values()];
}
