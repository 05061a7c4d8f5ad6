import { type ErrorDetail, parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { quote, type ValuePath } from "@xdskit/protocol/internal";
import { describeKind, isMapping } from "./places.ts";

/** An entry of a response's `resource_errors`. */
export interface StatedError {
  readonly type: TypeUrl;
  readonly name: string;
  readonly error: ErrorDetail;
  readonly path: ValuePath;
}

/** A mistake in an entry; `code` says whether a field is unknown, has the wrong type, or is invalid. */
export interface ErrorTrouble {
  readonly code: "DOCUMENT_FIELD_UNKNOWN" | "DOCUMENT_WRONG_TYPE" | "RESOURCE_ERROR_INVALID";
  readonly path: ValuePath;
  readonly part: "key" | "value";
  readonly message: string;
  readonly hint?: string;
}

/** The entries of `resource_errors`, and their mistakes. */
export interface StatedErrors {
  readonly errors: readonly StatedError[];
  readonly troubles: readonly ErrorTrouble[];
}

/** The highest gRPC status code. */
const MAX_CODE = 16;

/**
 * Reads the `resource_errors` of a DiscoveryResponse with either spelling of field names. Their type is that of
 * `type_url`; `key` is the name of the list in the document.
 */
export function readResponseErrors(list: unknown, key: string, typeUrl: unknown): StatedErrors {
  if (!Array.isArray(list)) return { errors: [], troubles: [wrongType([key], "a list of errors", list)] };
  const type = typeof typeUrl === "string" ? parseTypeUrl(typeUrl) : undefined;
  if (type === undefined && list.length > 0) {
    const message = `expected ${key === "resourceErrors" ? "typeUrl" : "type_url"} beside ${key}, got none`;
    return { errors: [], troubles: [invalid([key], message, "an error is of the type that the response is of")] };
  }
  const errors: StatedError[] = [];
  const troubles: ErrorTrouble[] = [];
  for (const [index, item] of list.entries()) {
    const entry = new Entry([key, index], troubles);
    const { name, error } = entry.read(item);
    if (type !== undefined && name !== undefined && error !== undefined)
      errors.push({ type, name, error, path: [key, index] });
  }
  return { errors, troubles };
}

class Entry {
  readonly #path: ValuePath;
  readonly #troubles: ErrorTrouble[];

  constructor(path: ValuePath, troubles: ErrorTrouble[]) {
    this.#path = path;
    this.#troubles = troubles;
  }

  read(item: unknown): { readonly name: string | undefined; readonly error: ErrorDetail | undefined } {
    const entry = this.#mapping(item, this.#path, ["resource_name", "error_detail"]);
    if (entry === undefined) return { name: undefined, error: undefined };
    return { name: this.#name(entry.get("resource_name")), error: this.#detail(entry.get("error_detail")) };
  }

  #name(found: Field | undefined): string | undefined {
    const path = found?.path ?? this.#path;
    const fields = this.#mapping(found?.value, path, ["name"], "resource_name with a name");
    if (fields === undefined) return undefined;
    const name = fields.get("name");
    const at = name?.path ?? path;
    if (typeof name?.value !== "string" || name.value === "") {
      this.#troubles.push(invalid(at, "expected the name of a resource, got none"));
      return undefined;
    }
    if (name.value !== "*") return name.value;
    this.#troubles.push(
      invalid(at, 'expected the name of a resource, got "*"', "name each resource that cannot be given"),
    );
    return undefined;
  }

  #detail(found: Field | undefined): ErrorDetail | undefined {
    const path = found?.path ?? this.#path;
    const fields = this.#mapping(found?.value, path, ["code", "message", "details"], "error_detail with a code");
    if (fields === undefined) return undefined;
    const code = fields.get("code");
    const text = fields.get("message");
    const isCode = typeof code?.value === "number" && Number.isInteger(code.value) && code.value > 0;
    if (!isCode || code.value > MAX_CODE) {
      const got = code === undefined ? "none" : quote(String(code.value));
      const hint = "7 is PERMISSION_DENIED, 13 INTERNAL, 14 UNAVAILABLE";
      this.#troubles.push(
        invalid(code?.path ?? path, `expected a gRPC status code from 1 to ${MAX_CODE}, got ${got}`, hint),
      );
      return undefined;
    }
    if (text !== undefined && typeof text.value !== "string") {
      this.#troubles.push(wrongType(text.path, "a text", text.value));
      return undefined;
    }
    return { code: code.value, message: typeof text?.value === "string" ? text.value : "" };
  }

  /** The fields of a mapping by proto name. */
  #mapping(
    value: unknown,
    path: ValuePath,
    known: readonly string[],
    expected = `a mapping with ${known.join(" and ")}`,
  ): ReadonlyMap<string, Field> | undefined {
    if (!isMapping(value)) {
      this.#troubles.push(wrongType(path, expected, value));
      return undefined;
    }
    const fields = new Map<string, Field>();
    for (const [key, field] of Object.entries(value)) {
      const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      if (known.includes(name)) fields.set(name, { path: [...path, key], value: field });
      else {
        const message = `expected one of ${known.join(", ")}, got ${quote(key)}`;
        this.#troubles.push({ code: "DOCUMENT_FIELD_UNKNOWN", path: [...path, key], part: "key", message });
      }
    }
    return fields;
  }
}

interface Field {
  readonly path: ValuePath;
  readonly value: unknown;
}

function invalid(path: ValuePath, message: string, hint?: string): ErrorTrouble {
  return { code: "RESOURCE_ERROR_INVALID", path, part: "value", message, ...(hint !== undefined && { hint }) };
}

function wrongType(path: ValuePath, expected: string, got: unknown): ErrorTrouble {
  const message = `expected ${expected}, got ${describeKind(got)}`;
  return { code: "DOCUMENT_WRONG_TYPE", path, part: "value", message };
}
