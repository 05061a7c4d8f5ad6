import { isAscii } from "node:buffer";
import type { Problem } from "../problem.ts";

/** The text of a file without a byte order mark, or why it is not UTF-8. */
export type FileText =
  | { readonly text: string; readonly problem: undefined }
  | { readonly text: undefined; readonly problem: Problem };

const strict: InstanceType<typeof TextDecoder> = new TextDecoder("utf-8", { fatal: true });

/** Decodes UTF-8. Never throws. */
export function decodeText(file: string, bytes: Uint8Array): FileText {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16 || (bytes.length > 1 && (first === 0 || second === 0))) return refuse(file, "expected UTF-8, got UTF-16");
  try {
    const text = isAscii(bytes) ? textOfAscii(bytes) : strict.decode(bytes);
    return text.trim() === "" ? { text: undefined, problem: emptyFile(file) } : { text, problem: undefined };
  } catch {
    const { line, column } = placeOfBadByte(bytes); // a TypeError without details
    return refuse(file, "expected UTF-8, got a byte that is none", line, column);
  }
}

/** Takes a fifth of the time of decoding UTF-8. */
function textOfAscii({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}

/** The problem of an empty file: it was probably truncated for a write, and must not remove its resources. */
export function emptyFile(file: string): Problem {
  return {
    code: "FILE_EMPTY",
    severity: "error",
    file,
    message: "expected resources, got an empty file",
    hint: 'delete the file, or write "resources: []" to say that it holds none',
  };
}

function refuse(file: string, message: string, line?: number, column?: number): FileText {
  const place = line === undefined || column === undefined ? {} : { line, column };
  const hint = "save the file as UTF-8";
  return { text: undefined, problem: { code: "FILE_ENCODING", severity: "error", file, ...place, message, hint } };
}

function placeOfBadByte(bytes: Uint8Array): { line: number; column: number } {
  const text = new TextDecoder("utf-8").decode(bytes);
  const before = text.slice(0, Math.max(0, text.indexOf("\ufffd")));
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: before.length - lineStart + 1 };
}
