import type { RequestHeaders } from "./http2.ts";

/** Characters of a field's name (RFC 9113 section 8.2.1), without upper-case letters. */
const NAME = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Fields of one connection, which HTTP/2 does not have. */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);
const PSEUDO_FIELDS: ReadonlySet<string> = new Set([":method", ":scheme", ":authority", ":path"]);

/** Collects and validates the fields of a request, or its trailers (RFC 9113 section 8). */
export class FieldCollector {
  readonly headers: Record<string, string | undefined> = Object.create(null);
  readonly #isTrailers: boolean;
  #isMalformed = false;
  #isPastPseudo = false;

  constructor(isTrailers: boolean) {
    this.#isTrailers = isTrailers;
  }

  add(name: string, value: string): void {
    const isPseudo = name.charCodeAt(0) === 0x3a;
    const isKnown = this.headers[name] !== undefined;
    if (!NAME.test(name) || !isValidValue(value)) this.#isMalformed = true;
    else if (isPseudo) {
      if (this.#isTrailers || this.#isPastPseudo || isKnown || !PSEUDO_FIELDS.has(name)) this.#isMalformed = true;
    } else {
      this.#isPastPseudo = true;
      if (CONNECTION_FIELDS.has(name) || (name === "te" && value !== "trailers")) this.#isMalformed = true;
    }
    if (!isKnown) this.headers[name] = value;
  }

  /** Undefined: they are malformed. */
  finish(): RequestHeaders | undefined {
    return this.#isMalformed || !(this.#isTrailers || isRequest(this.headers)) ? undefined : this.headers;
  }
}

function isRequest(headers: RequestHeaders): boolean {
  const { ":method": method, ":scheme": scheme, ":path": path, ":authority": authority } = headers;
  if (method === "CONNECT") return scheme === undefined && path === undefined && authority !== undefined;
  return method !== undefined && method !== "" && scheme !== undefined && path !== undefined && path !== "";
}

/** No NUL, CR or LF, and no space around (RFC 9113 section 8.2.1). */
function isValidValue(value: string): boolean {
  return !/[\0\r\n]|^[ \t]|[ \t]$/.test(value);
}

/** The announced length of the body; undefined without one, NaN if it is malformed. */
export function contentLength(headers: RequestHeaders): number | undefined {
  const text = headers["content-length"];
  if (text === undefined) return undefined;
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
