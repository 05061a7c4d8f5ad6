import { contentDigest } from "@xdskit/envoy-api";
import type { Booking, Response } from "../case.ts";
import { nameOfUrl, type TypeName, urlOf } from "../content/catalog.ts";
import { type Content, contentOf, EMPTY, textInMetadata } from "../content/content.ts";
import type { BookingObservation, PlainResource, PlainResponse } from "./driver.ts";

/** A response in the form of the cases, for comparison as a whole. */
export interface Rendered {
  readonly type: string;
  readonly resources: readonly string[];
  readonly removed: readonly string[];
  readonly missing: readonly string[];
  readonly errors: readonly string[];
  readonly heartbeats: readonly string[];
  readonly version: string;
  readonly nonce: string;
  readonly isCanary: boolean;
}

/** Everything observed in one play: maps bytes to labels, and checks the rules that hold for every case. */
export class Observed {
  readonly #comparesVersions: boolean;
  readonly #labels = new Map<string, string>();
  readonly #versionOf = new Map<string, string>();
  /** By all that a resource has, its cache control and metadata too. */
  readonly #versionOfWhole = new Map<string, string>();
  readonly #contentOf = new Map<string, string>();
  readonly #named = new Map<string, PlainResponse>();
  readonly #labelled: { readonly streamId: string; readonly nonce: string; readonly name: string }[] = [];
  readonly #nonces = new Set<string>();

  /** `comparesVersions`: equal content has an equal version in delta, which the protocol does not ask for. */
  constructor(comparesVersions: boolean) {
    this.#comparesVersions = comparesVersions;
  }

  /** Registers content that may be sent from now on, and the empty endpoints that a server may make for a cluster. */
  learn(content: Content): void {
    if (content.error !== undefined) return;
    this.#labels.set(keyOf(urlOf(content.type), content.bytes), content.is);
    for (const { type, name } of content.references) {
      if (type === urlOf("eds"))
        this.#labels.set(keyOf(type, contentOf("eds", `${name}@${EMPTY}`).bytes), `${name}@${EMPTY}`);
    }
  }

  responseNamed(name: string): PlainResponse {
    const response = this.#named.get(name);
    if (response === undefined) throw new Error(`the case speaks of response ${name}, but none has that name`);
    return response;
  }

  /** Resolves a text of a case: `of A` is a field of that response, anything else is literal. */
  resolve(text: string | undefined, field: "nonce" | "version"): string | undefined {
    return text?.startsWith("of ") ? this.responseNamed(text.slice(3))[field] : text;
  }

  /** An entry of `initial_resource_versions`: name and version. */
  heldVersion(type: TypeName, held: string): readonly [string, string] {
    const equals = held.indexOf("=");
    if (equals !== -1) return [held.slice(0, equals), held.slice(equals + 1)];
    const version = this.#versionOf.get(`${urlOf(type)} ${held}`);
    if (version === undefined) throw new Error(`the case holds ${held}, but it was never sent`);
    return [held.slice(0, held.lastIndexOf("@")), version];
  }

  /**
   * Renders a response, with its version in the form of the expectation. `streamId` is unique among all streams of the
   * play; `node` names the node and the server, whose versions have nothing to do with those of others.
   */
  render(streamId: string, node: string, response: PlainResponse, expected: Response | undefined): Rendered {
    const withBody = response.resources.filter((resource) => resource.bytes !== undefined);
    const withoutBody = response.resources.filter((resource) => resource.bytes === undefined);
    const missing = withoutBody.filter((resource) => resource.ttlMs === undefined);
    const heartbeats = withoutBody.filter((resource) => resource.ttlMs !== undefined);
    const rendered = {
      type: nameOfUrl(response.typeUrl),
      resources: withBody.map((resource) => this.#renderResource(resource, node, response)).sort(),
      removed: [...response.removed].sort(),
      missing: missing.map((resource) => resource.name ?? "(unnamed)").sort(),
      heartbeats: heartbeats.map((resource) => this.#renderHeartbeat(resource, node)).sort(),
      errors: [...response.errors].sort(),
      version: this.#renderVersion(response, expected?.version),
      nonce: response.isPolled
        ? noncePolled(response)
        : this.#renderNonce(`${streamId} ${response.typeUrl} ${response.nonce}`, response.nonce),
      isCanary: response.isCanary,
    };
    if (expected?.as !== undefined) {
      this.#named.set(expected.as, response);
      this.#labelled.push({ streamId, nonce: response.nonce, name: expected.as });
    }
    return rendered;
  }

  /** Published content in the short form, `a@1`; undefined if it never was. */
  labelOf({ typeUrl, bytes }: PlainResource): string | undefined {
    return this.#labels.get(keyOf(typeUrl, bytes ?? new Uint8Array()));
  }

  /**
   * Renders a recorded ACK or NACK with the expected fields only. Without the stream, several responses may match the
   * nonce.
   */
  renderBooking(streamId: string | undefined, booking: BookingObservation, expected: Booking | undefined): Booking {
    const candidates = this.#labelled
      .filter((each) => each.nonce === booking.nonce && (streamId === undefined || each.streamId === streamId))
      .map((each) => each.name);
    const wanted = expected?.[booking.as];
    const name = candidates.find((candidate) => candidate === wanted) ?? candidates[0];
    return {
      [booking.as]: name ?? `nonce ${booking.nonce}`,
      ...(expected?.error === undefined ? {} : { error: booking.error ?? "(not told)" }),
      ...(expected?.names === undefined ? {} : { names: booking.names ?? [] }),
    };
  }

  #renderResource(resource: PlainResource, node: string, response: PlainResponse): string {
    const label = this.labelOf(resource);
    const is = label ?? `(content that was never published, named ${resource.name ?? "nothing"})`;
    const remarks: string[] = [];
    if (resource.typeUrl !== response.typeUrl) remarks.push(`of type ${nameOfUrl(resource.typeUrl)}`);
    if (resource.name !== undefined && !is.startsWith(`${resource.name}@`)) remarks.push(`named ${resource.name}`);
    if (resource.constraints !== undefined) remarks.push(`[${resource.constraints}]`);
    if (resource.doNotCache === true) remarks.push("not cached");
    if (resource.metadata !== undefined)
      remarks.push(`with metadata ${textInMetadata(resource.metadata) ?? "of somebody else"}`);
    if (resource.aliases.length > 0) remarks.push(`aka ${[...resource.aliases].sort().join(", ")}`);
    if (resource.ttlMs !== undefined) remarks.push(`for ${resource.ttlMs} ms`);
    remarks.push(...this.#oddVersion(resource, is, node));
    return [is, ...remarks].join(" ");
  }

  /** The content that was sent under this name and version. */
  #renderHeartbeat({ typeUrl, name, version, ttlMs }: PlainResource, node: string): string {
    const is =
      this.#contentOf.get(`${node} ${typeUrl} ${name} ${version}`) ?? `(${name} under a version that was never sent)`;
    return `${is} for ${ttlMs} ms`;
  }

  /** A resource's version is not empty, and changes if its content does, and then only where that is compared (S-VER-08). */
  #oddVersion({ typeUrl, version, doNotCache, metadata }: PlainResource, is: string, node: string): string[] {
    if (version === undefined) return [];
    if (version === "") return ["without a version"];
    this.#versionOf.set(`${typeUrl} ${is}`, version);
    const whole = JSON.stringify([typeUrl, is, doNotCache === true, textInMetadata(metadata ?? new Uint8Array())]);
    const before = this.#versionOfWhole.get(whole);
    this.#versionOfWhole.set(whole, version);
    if (this.#comparesVersions && before !== undefined && before !== version)
      return ["under another version than before"];
    const versioned = `${node} ${typeUrl} ${is.slice(0, is.lastIndexOf("@"))} ${version}`;
    const other = this.#contentOf.get(versioned);
    this.#contentOf.set(versioned, is);
    return other !== undefined && other !== is ? [`under the version of ${other}`] : [];
  }

  #renderVersion(response: PlainResponse, expected: string | undefined): string {
    const { version } = response;
    if (expected === undefined) return version === "" && response.variant === "sotw" ? "none" : "any";
    const space = expected.indexOf(" ");
    const word = expected.slice(0, space);
    const rest = expected.slice(space + 1);
    if (word === "is") return `is ${version}`;
    const other = expected.startsWith("same as ") ? expected.slice("same as ".length) : rest;
    const isSame = this.#named.get(other)?.version === version;
    return isSame ? `same as ${other}` : `not ${other}`;
  }

  #renderNonce(key: string, nonce: string): string {
    if (nonce === "") return "none";
    if (this.#nonces.has(key)) return "used before for the type on the stream";
    this.#nonces.add(key);
    return "fresh";
  }
}

/** The nonce of a poll's response may be empty; otherwise it must equal the version (B-RST-07). */
function noncePolled({ nonce, version }: PlainResponse): string {
  return nonce === "" || nonce === version ? "fresh" : "that of another version";
}

/** Renders an expected response in the same way. */
export function renderExpected(expected: Response, defaultType: TypeName): Rendered {
  return {
    type: expected.type ?? defaultType,
    resources: [...(expected.resources ?? [])].sort(),
    removed: [...(expected.removed ?? [])].sort(),
    missing: [...(expected.missing ?? [])].sort(),
    heartbeats: [...(expected.heartbeats ?? [])].sort(),
    errors: [...(expected.errors ?? [])].sort(),
    version: expected.version ?? "any",
    nonce: "fresh",
    isCanary: expected.canary ?? false,
  };
}

function keyOf(typeUrl: string, bytes: Uint8Array): string {
  return `${typeUrl} ${contentDigest([bytes])}`;
}
