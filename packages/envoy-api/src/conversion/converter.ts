import type { DescMessage } from "@bufbuild/protobuf";
import { type ApiVersion, formatTypeUrl, messageNameOf, type TypeUrl } from "@xdskit/protocol";
import type { Steps } from "@xdskit/protocol/internal";
import type { Schema } from "../descriptor/schema.ts";
import type { TwinNames } from "../descriptor/twin-names.ts";
import { DEEPEST_ANY } from "../format/content.ts";
import type { FieldProblem } from "../problem.ts";
import { readAny } from "../wire/any.ts";
import { WireReader } from "../wire/reader.ts";
import { WireError } from "../wire/wire-error.ts";
import { WireWriter } from "../wire/writer.ts";
import { Copier } from "./copier.ts";
import { Plans } from "./plan.ts";

/** A message converted to the other API version. */
export interface Converted {
  readonly type: TypeUrl;
  /** The same object if nothing had to change; undefined if the bytes are not such a message. */
  readonly bytes: Uint8Array | undefined;
  /**
   * What the other version cannot express, and what was passed on unchanged; warnings, unless the message cannot be
   * converted. Paths use proto names.
   */
  readonly findings: readonly FieldProblem[];
}

/** Converts messages between v2 and v3, whose field numbers agree. Reads the descriptors on first use. */
export class Converter {
  readonly #schema: Schema;
  readonly #directions = new Map<ApiVersion, Direction>();

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** Converts a message to the other version; undefined if its type has no twin. */
  convert(type: TypeUrl, bytes: Uint8Array): Converted | undefined {
    const name = messageNameOf(type);
    const { to, twin } = this.#twinOf(name);
    return twin === undefined ? undefined : { type: formatTypeUrl(twin), ...this.#direction(to).convert(name, bytes) };
  }

  /** Reads and compiles what the first conversion of a type needs. */
  *prepare(type: TypeUrl): Steps<void> {
    const name = messageNameOf(type);
    const { to, twin } = this.#twinOf(name);
    yield;
    if (twin !== undefined) yield* this.#direction(to).prepare(name);
  }

  #twinOf(name: string): { readonly to: ApiVersion; readonly twin: string | undefined } {
    const names = this.#schema.twins;
    const to: ApiVersion = names.in("v2", name) === undefined ? "v3" : "v2";
    return { to, twin: names.in(to, name) };
  }

  #direction(to: ApiVersion): Direction {
    const known = this.#directions.get(to);
    if (known !== undefined) return known;
    const direction = new Direction(this.#schema, to);
    this.#directions.set(to, direction);
    return direction;
  }
}

/** One direction: v3 to v2, or v2 to v3. */
class Direction {
  readonly #schema: Schema;
  readonly #names: TwinNames;
  readonly #to: ApiVersion;
  readonly #plans: Plans;
  readonly #copier: Copier;
  readonly #path: (string | number)[] = [];
  #findings: FieldProblem[] = [];
  #anyDepth = 0;

  constructor(schema: Schema, to: ApiVersion) {
    const names = schema.twins;
    this.#schema = schema;
    this.#names = names;
    this.#to = to;
    this.#plans = new Plans(schema, names, to);
    this.#copier = new Copier(to, {
      path: this.#path,
      convertAny: (bytes) => this.#convertAny(bytes),
      report: (message) => this.#report(message),
    });
  }

  convert(name: string, bytes: Uint8Array): Omit<Converted, "type"> {
    this.#findings = [];
    this.#path.length = 0;
    this.#anyDepth = 0;
    try {
      const converted = this.#copy(name, bytes);
      return { bytes: converted, findings: this.#findings };
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      const message = `expected the bytes of a ${name}: ${error.message}`;
      return { bytes: undefined, findings: [{ code: "MESSAGE_MALFORMED", severity: "error", path: [], message }] };
    }
  }

  *prepare(name: string): Steps<void> {
    const message = this.#messageNamed(name);
    if (message !== undefined) yield* this.#plans.planInSteps(message);
  }

  /** A message that the built-in v2 files lack is treated as its v3 form. */
  #messageNamed(name: string): DescMessage | undefined {
    return this.#schema.message(name) ?? this.#schema.message(this.#names.in(this.#to, name) ?? "");
  }

  #copy(name: string, bytes: Uint8Array): Uint8Array {
    const message = this.#messageNamed(name);
    return message === undefined ? bytes : this.#copier.copy(bytes, this.#plans.planFor(message));
  }

  #convertAny(bytes: Uint8Array): Uint8Array {
    const { typeUrl, value } = readAny(new WireReader(bytes));
    const slash = typeUrl.lastIndexOf("/");
    const name = typeUrl.slice(slash + 1);
    const twin = this.#names.in(this.#to, name);
    if (twin === undefined) {
      this.#reportNameless(name);
      return bytes;
    }
    if (this.#anyDepth >= DEEPEST_ANY) throw new WireError(`an Any in more than ${DEEPEST_ANY} others`);
    if (this.#to === "v2" && this.#schema.message(twin) === undefined) {
      this.#report(`v2 has ${twin} only since after 2019: clients of that time do not know it`);
    }
    this.#anyDepth++;
    const { length } = this.#path;
    const converted = this.#copyReadable(name, value);
    this.#path.length = length;
    this.#anyDepth--;
    if (converted === undefined) return bytes;
    const writer = new WireWriter().string(1, typeUrl.slice(0, slash + 1) + twin);
    return (converted.length === 0 ? writer : writer.bytes(2, converted)).finish();
  }

  /** An `Any` with bytes that are not its message is passed on unchanged, as a relay would do (B-MSC-09). */
  #copyReadable(name: string, value: Uint8Array): Uint8Array | undefined {
    try {
      return this.#copy(name, value);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#report(
        `expected the bytes of a ${name}: ${error.message}: they are passed on as they are, under that name`,
      );
      return undefined;
    }
  }

  /**
   * Unversioned messages, Google's and private ones, are equal in both versions; so is what is in the target version
   * already.
   */
  #reportNameless(name: string): void {
    const isThere = this.#to === "v2" ? /\.v[12](alpha\d?)?\./ : /\.v3(alpha)?\./;
    if (!/^(envoy|xds|udpa)\./.test(name) || isThere.test(name)) return;
    this.#report(`${this.#to} has no name for ${name}: it is passed on under this one`);
  }

  #report(message: string): void {
    this.#findings.push({ code: "VERSION_LOSS", severity: "warning", path: [...this.#path], message });
  }
}
