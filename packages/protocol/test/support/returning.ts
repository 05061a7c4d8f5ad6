import type { Resource } from "@xdskit/protocol";
import type { Remembered } from "@xdskit/protocol/internal";
import { Conversation, node } from "./conversation.ts";
import { initialVersionsOf } from "./model-client.ts";
import { plain, routeTo } from "./resources.ts";

/** The versions of what a client says that it holds. */
export function holding(...held: readonly Resource[]): ReturnType<typeof initialVersionsOf> {
  return initialVersionsOf(held.map(({ name, version }) => [name, version]));
}

/** What the first request on a stream says: that it is from the node `n`. */
export function firstOf(userAgentName = "envoy"): { node: ReturnType<typeof node> } {
  return { node: node("n", userAgentName) };
}

/** A server where `new` took the place of `old`, and the route follows it. */
export function swapped(): Conversation {
  const talk = new Conversation();
  talk.put(plain("new"), routeTo("new"));
  return talk;
}

/** What the server asked to remember. */
export function rememberedOf(talk: Conversation): readonly Remembered[] {
  return talk.asked.flatMap((effect) => (effect.kind === "remember" ? [effect.what] : []));
}
