import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { type EnvoyApi, WireError } from "@xdskit/envoy-api";
import { parse } from "yaml";
import { FileChanges } from "./file-changes.ts";
import type { Answer, ResponseContent } from "./held.ts";
import { readJsonResponse, readSotwResponse, strangerIn, UnreadableResponse } from "./response.ts";
import type { Connection, Ending, Interest, Subscription, Transport } from "./transport.ts";

/** Which file is read. */
export interface FileTransportOptions {
  readonly api: EnvoyApi;
  /** As the caller says it. */
  readonly shownPath: string;
  readonly path: string;
  /** Takes what went wrong while what was read before stays in force (C-FS-05, C-FS-06). */
  readonly notice: (text: string) => void;
}

/** A file that holds a `DiscoveryResponse`, read again whenever it changes (C-FS-01 to C-FS-04). */
export function fileTransport(options: FileTransportOptions): Transport {
  return { answersWhole: () => true, connect: async () => connectionTo(options) };
}

function connectionTo(options: FileTransportOptions): Connection {
  const closing = new AbortController();
  return {
    subscribe(interest): Subscription {
      const following = new Following(interest, options);
      closing.signal.addEventListener("abort", () => following.cancel(), { once: true });
      return { answers: following.answers(), ending: following.ending, cancel: () => following.cancel() };
    },
    close: async () => closing.abort(),
  };
}

/** One type, as a file has it. */
class Following {
  readonly ending: Promise<Ending>;
  readonly #interest: Interest;
  readonly #options: FileTransportOptions;
  readonly #changes: FileChanges;
  #end: (ending: Ending) => void = () => undefined;

  constructor(interest: Interest, options: FileTransportOptions) {
    this.#interest = interest;
    this.#options = options;
    this.#changes = new FileChanges(options.path);
    this.ending = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  cancel(): void {
    this.#changes.close();
  }

  async *answers(): AsyncIterable<Answer> {
    const { notice } = this.#options;
    let before: Buffer | undefined;
    try {
      // What changes while the file is read is heard of, so the watch begins first.
      this.#changes.open();
      before = await readFile(this.#options.path);
      yield this.#take(before);
      while (await this.#changes.next()) {
        const bytes = await this.#readAgain();
        if (bytes === undefined || bytes.equals(before)) continue;
        before = bytes;
        const answer = this.#tryToTake(bytes, notice);
        if (answer !== undefined) yield answer;
      }
      this.#end({ reason: `${this.#options.shownPath} is not followed any more`, isUnreachable: false });
    } catch (cause) {
      this.#end({ reason: this.#describe(cause), isUnreachable: false });
    } finally {
      this.#changes.close();
    }
  }

  async #readAgain(): Promise<Buffer | undefined> {
    try {
      return await readFile(this.#options.path);
    } catch (cause) {
      this.#options.notice(`${this.#describe(cause)}, keeping what it said`);
      return undefined;
    }
  }

  #tryToTake(bytes: Buffer, notice: (text: string) => void): Answer | undefined {
    try {
      return this.#take(bytes);
    } catch (cause) {
      notice(`${this.#describe(cause)}, keeping what it said before`);
      return undefined;
    }
  }

  #take(bytes: Buffer): Answer {
    const { type, names, held } = this.#interest;
    const content = readContent(bytes, this.#options);
    const stranger = strangerIn(content, type);
    if (stranger !== undefined) throw new UnreadableResponse(stranger);
    const puts = content.puts.filter(({ name }) => names.length === 0 || names.includes(name));
    return held.take({ ...content, puts });
  }

  /** Says what was wrong; what is no mistake in the file is thrown on. */
  #describe(cause: unknown): string {
    const { shownPath } = this.#options;
    if (cause instanceof UnreadableResponse) return `${shownPath}: ${cause.message}`;
    if (cause instanceof WireError) return `${shownPath}: expected an encoded DiscoveryResponse, got other bytes`;
    if (cause instanceof Error && "code" in cause) return `${shownPath}: ${cause.message}`;
    throw cause;
  }
}

/** The format is told by how the name ends, as Envoy does it (C-FS-04). */
function readContent(bytes: Buffer, { path, api }: FileTransportOptions): ResponseContent {
  const ending = extname(path).toLowerCase();
  if (ending === ".pb") return readSotwResponse(bytes, api);
  const text = bytes.toString("utf8");
  if (ending === ".pb_text") return readJsonResponse(readTextFormat(text, api), api);
  return readJsonResponse(ending === ".yaml" || ending === ".yml" ? readYaml(text) : readJson(text), api);
}

function readTextFormat(text: string, api: EnvoyApi): unknown {
  const { value, problems } = api.readText("envoy.service.discovery.v3.DiscoveryResponse", text);
  if (value !== undefined) return value;
  const { line, message } = problems[0] ?? { line: undefined, message: "" };
  throw new UnreadableResponse(line === undefined ? message : `line ${line}: ${message}`);
}

function readYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new UnreadableResponse(firstLine(cause));
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UnreadableResponse(firstLine(cause));
  }
}

function firstLine(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? "";
}
