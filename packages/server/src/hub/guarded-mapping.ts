import type { NodeMapping } from "@xdskit/protocol";
import { describeKind, isObject, isTexts } from "@xdskit/protocol/internal";
import { isThenable } from "./listeners.ts";

/**
 * Wraps the node mapping of the program so that its mistakes do not look like those of the server: a node for which it
 * throws, or answers anything but layers or a rejection, is rejected, and `failed` is told why.
 */
export function guardMapping(mapping: NodeMapping, failed: (error: unknown) => void): NodeMapping {
  if (typeof mapping !== "function") return mapping;
  return (node, peer) => {
    try {
      const answer: unknown = mapping(node, peer);
      if (isTexts(answer) || isRejection(answer)) return answer;
      // Its rejection would end the process.
      if (isThenable(answer)) answer.then(undefined, () => undefined);
      const got = isThenable(answer) ? "a promise: it must not be async" : describeKind(answer);
      failed(new TypeError(`nodeMapping: expected a list of layer names, got ${got}`));
    } catch (error) {
      failed(error);
    }
    return { refused: "the node mapping of this server failed" };
  };
}

function isRejection(answer: unknown): answer is { readonly refused: string } {
  return isObject(answer) && typeof answer["refused"] === "string";
}
