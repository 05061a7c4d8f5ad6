import type { TypeUrl } from "@xdskit/protocol";
import {
  type ClientReport,
  type DiscoveryRequest,
  type HeldResource,
  parseLocated,
  shownName,
  type WatchEvent,
} from "@xdskit/protocol/internal";
import type { SentRequest } from "../../client-case.ts";
import { nameOfUrl, type TypeName } from "../../content/catalog.ts";
import { contentOf } from "../../content/content.ts";
import { textOfBytes } from "../../content/encode.ts";

/** Maps encoded content back to its label. */
export class Labels {
  readonly #labels = new Map<string, string>();

  /** Encodes `a@1` and remembers its label. */
  encode(type: TypeName, is: string): Uint8Array {
    const { bytes } = contentOf(type, is);
    this.#labels.set(textOfBytes(bytes), is);
    return bytes;
  }

  /** The label of a resource, `a@1`; of a variant with its constraints, `a@1 [env = "prod"]`. */
  labelOf({ name: key, bytes }: HeldResource): string {
    const name = shownName(key);
    const is = this.#labels.get(textOfBytes(bytes));
    if (is === undefined) return `${name} with other content`;
    const { length } = is.slice(0, is.lastIndexOf("@"));
    const constraints = name.slice(length);
    const isItself = is.startsWith(name.slice(0, length)) && (constraints === "" || constraints.startsWith(" ["));
    return isItself ? `${is}${constraints}` : `${name} with ${is}`;
  }
}

/** Formats a watch event as cases write it. */
export function renderNews(news: WatchEvent, labels: Labels): string {
  switch (news.kind) {
    case "synced":
    case "recovered":
      return news.kind;
    case "changed":
      return `${labels.labelOf(news.resource)}${news.resource.isRestored === true ? " restored" : ""}`;
    case "confirmed":
      return `${labels.labelOf(news.resource)} confirmed`;
    case "absent":
      return `${shownName(news.name)} ${news.why}${kept(news.held, labels)}`;
    case "failed": {
      const name = news.name === undefined ? "" : `${shownName(news.name)} `;
      return `${name}${news.why} ${news.error.code}${kept(news.held, labels)}`;
    }
    default:
      throw new Error(`there is no such news: ${JSON.stringify(news satisfies never)}`);
  }
}

function kept(held: HeldResource | undefined, labels: Labels): string {
  return held === undefined ? "" : `, ${labels.labelOf(held)}`;
}

/** Formats a request as cases write it; a NACK's message becomes the expected texts if it contains them. */
export function renderRequest(request: DiscoveryRequest, isUrgent: boolean, wanted: SentRequest | undefined): unknown {
  const { type, node, nonce, error } = request;
  const isSotw = request.kind === "sotw";
  return inOneOrder({
    type: typeNameOf(type),
    version: isSotw ? request.versionInfo : undefined,
    nonce,
    error: error === undefined ? undefined : textsIn(error, wanted?.error),
    node: node?.id,
    names: isSotw ? request.names.map(shownTerm) : undefined,
    subscribe: isSotw ? undefined : request.subscribe.map(shownTerm),
    unsubscribe: isSotw ? undefined : request.unsubscribe.map(shownTerm),
    initial: isSotw ? undefined : [...request.initialVersions].map(([name, version]) => `${name}=${version}`),
    isUrgent,
  });
}

/** Formats an expected request in the same way. */
export function renderWanted(wanted: SentRequest, type: TypeName): unknown {
  return inOneOrder({ ...wanted, type: wanted.type ?? type, isUrgent: wanted.isUrgent ?? false });
}

interface Described {
  readonly type: string;
  readonly version?: string | undefined;
  readonly nonce?: string | undefined;
  readonly error?: readonly string[] | undefined;
  readonly node?: string | undefined;
  readonly names?: readonly string[] | undefined;
  readonly subscribe?: readonly string[] | undefined;
  readonly unsubscribe?: readonly string[] | undefined;
  readonly initial?: readonly string[] | undefined;
  readonly isUrgent: boolean;
}

function inOneOrder(described: Described): unknown {
  const { type, version, nonce, error, node, isUrgent } = described;
  return {
    type,
    version,
    nonce,
    error,
    node,
    names: inOrder(described.names),
    subscribe: inOrder(described.subscribe),
    unsubscribe: inOrder(described.unsubscribe),
    initial: inOrder(described.initial),
    isUrgent,
  };
}

function inOrder(names: readonly string[] = []): readonly string[] {
  return [...names].sort();
}

function typeNameOf(type: TypeUrl | undefined): string {
  return type === undefined ? "no type" : nameOfUrl(type);
}

/** Formats a locator: `a {env=prod}`. */
function shownTerm(term: string): string {
  const located = parseLocated(term);
  if (located === undefined) return term;
  const pairs = [...located.parameters].map(([key, value]) => `${key}=${value}`);
  return `${located.name} {${pairs.join(", ")}}`;
}

/** The expected texts if the message contains them and the code is not OK, else the error itself. */
function textsIn({ code, message }: { readonly code: number; readonly message: string }, wanted?: readonly string[]) {
  const isAsWanted = wanted?.every((text) => standsIn(text, message)) === true && code !== 0 && message !== "";
  return isAsWanted ? wanted : [`${code} ${message}`];
}

/** Whether the text is in the message as a word. */
function standsIn(text: string, message: string): boolean {
  return message.split(/[^\w/.:-]+|:(?!\w)/).includes(text);
}

/** Formats a client report as cases write it. */
export function renderReport(report: ClientReport): string {
  switch (report.kind) {
    case "request-sent":
      return `request-sent ${report.as}`;
    case "response-accepted":
      return `response-accepted ${report.resources} ${report.isNews ? "new" : "same"}`;
    case "stream-ended":
      return `stream-ended ${report.status.code} ${report.isFailure ? "failed" : "answered"}`;
    case "server-chosen":
      return `server-chosen ${report.server}`;
    case "absence-timeout":
      return `absence-timeout ${report.names.join(" ")}`;
    case "resource-expired":
      return `resource-expired ${report.name}`;
    case "rate-limited":
      return `rate-limited ${report.pending}`;
    default:
      return report.kind;
  }
}
