import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io } from "./io.ts";

/** The argument that stands for standard input, and its name in messages. */
export const STANDARD_INPUT = "-";

/** Standard input as a temporary file. */
export interface InputFile {
  /** A directory with nothing else in it. */
  readonly directory: string;
  readonly path: string;
}

/**
 * Reads standard input into a temporary file for the duration of `work`. The extension follows the content: JSON, YAML
 * or binary.
 */
export async function withStandardInput<T>(io: Io, work: (input: InputFile) => Promise<T>): Promise<T> {
  const bytes = await io.readInput();
  const directory = await mkdtemp(join(tmpdir(), "xds-input-"));
  try {
    const path = join(directory, `input.${formatOf(bytes)}`);
    await writeFile(path, bytes, { mode: 0o600 });
    return await work({ directory, path });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function formatOf(bytes: Uint8Array): "json" | "yaml" | "pb" {
  const text = readText(bytes);
  if (text === undefined) return "pb";
  try {
    JSON.parse(text);
    return "json";
  } catch {
    return "yaml";
  }
}

/** Decodes text; undefined for binary messages, whose tags and lengths contain control characters. */
function readText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what tells a message from text
    return /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
