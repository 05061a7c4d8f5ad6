import { parseTypeUrl } from "@xdskit/protocol";
import type { Response } from "../case.ts";
import { traitsOf } from "../content/catalog.ts";
import type { PlainResource, PlainResponse } from "./driver.ts";
import type { ScriptedClientStream } from "./scripted-client.ts";

/**
 * What a server may repeat in State of the World: beside what changed, a response may hold again what the client asks
 * for and has, of a type whose responses need not be complete. It need not (S-RES-05).
 */
export class Repeats {
  /** The newest content of each resource on each stream, by type and name. */
  readonly #sent = new Map<ScriptedClientStream, Map<string, string>>();
  readonly #labelOf: (resource: PlainResource) => string | undefined;

  /** `labelOf` gives published content in the short form, `a@1`. */
  constructor(labelOf: (resource: PlainResource) => string | undefined) {
    this.#labelOf = labelOf;
  }

  /** The response without what it repeats and the case does not expect; nothing is left out of an unexpected one. */
  without(client: ScriptedClientStream, response: PlainResponse, expected: Response | undefined): PlainResponse {
    const sent = this.#sent.get(client) ?? new Map<string, string>();
    this.#sent.set(client, sent);
    const type = parseTypeUrl(response.typeUrl);
    const mayRepeat =
      expected !== undefined &&
      response.variant === "sotw" &&
      type !== undefined &&
      traitsOf(type)?.isFullState === false;
    const resources = response.resources.filter((resource) => {
      const label = this.#labelOf(resource);
      if (label === undefined) return true;
      const name = label.slice(0, label.lastIndexOf("@"));
      const key = `${resource.typeUrl} ${name}`;
      const isRepeated = sent.get(key) === label && client.wants(response.typeUrl, name);
      sent.set(key, label);
      return !(mayRepeat && isRepeated && expected.resources?.includes(label) !== true);
    });
    return { ...response, resources };
  }
}
