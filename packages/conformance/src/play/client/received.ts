import type { Variant } from "@xdskit/protocol";
import {
  type DiscoveryResponse,
  type ReceivedError,
  type ReceivedResource,
  variantKey,
} from "@xdskit/protocol/internal";
import type { ScriptedResource } from "../../client-case.ts";
import { urlOf } from "../../content/catalog.ts";
import type { PlainScripted } from "./driver.ts";
import type { Labels } from "./rendered.ts";

/** The decoded and validated form of a scripted response. */
export function receivedOf(response: PlainScripted, variant: Variant, labels: Labels): DiscoveryResponse {
  const resources = (response.resources ?? []).map(detailed);
  const strangers = resources.filter(({ type = response.type }) => type !== response.type);
  const common = {
    type: urlOf(response.type),
    nonce: response.nonce ?? "",
    resources: resources.map((resource) => receivedResource(resource, response, variant, labels)),
    errors: (response.errors ?? []).map(errorIn),
    controlPlane: response.from,
    problems: strangers.map(({ is, type }) => `${is} is of type ${type}`),
  };
  return variant === "sotw"
    ? { kind: "sotw", version: response.version ?? "", ...common }
    : { kind: "delta", systemVersion: response.version ?? "", removed: response.removed ?? [], ...common };
}

export function detailed(resource: string | ScriptedResource): ScriptedResource {
  return typeof resource === "string" ? { is: resource } : resource;
}

/** Splits `a@1` into name and label; a resource without a body has no label. */
export function partsOf(is: string): { readonly name: string; readonly label: string | undefined } {
  const at = is.lastIndexOf("@");
  return at === -1 ? { name: is, label: undefined } : { name: is.slice(0, at), label: is.slice(at + 1) };
}

function receivedResource(
  { is, version, aliases = [], ttl, when, type, isBad }: ScriptedResource,
  response: PlainScripted,
  variant: Variant,
  labels: Labels,
): ReceivedResource {
  const { name, label } = partsOf(is);
  const isInWrapper = variant === "delta" || version !== undefined;
  return {
    name: when === undefined ? name : variantKey({ name, constraints: when }),
    aliases,
    version: isInWrapper ? (version ?? label ?? "") : "",
    bytes: label === undefined ? undefined : labels.encode(type ?? response.type, is),
    ttlMs: ttl,
    ...(isBad === true && { problem: `${name} is of the kind that is refused` }),
  };
}

/** Parses a resource error `a 7 why`. Throws for any other text. */
export function errorIn(text: string): ReceivedError {
  const [, name = "", code = "", message = ""] = /^(.+?) (\d+) (.*)$/.exec(text) ?? [];
  if (name === "") throw new Error(`expected an error such as "a 7 why", got "${text}"`);
  return { name, error: { code: Number(code), message } };
}
