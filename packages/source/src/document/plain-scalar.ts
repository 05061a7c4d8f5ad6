/** The JSON value of a YAML scalar. */
export type Scalar = string | number | boolean | null;

const MAX_EXACT_DIGITS = 15;
const INTEGER = /^[-+]?[0-9]+$/;
const OCTAL = /^0o[0-7]+$/;
const HEXADECIMAL = /^0x[0-9a-fA-F]+$/;
const FRACTION = /^[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)$/;
const EXPONENT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+$/;
const SPECIAL = /^(?:[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$/;

const WORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ["", null],
  ["~", null],
  ["null", null],
  ["Null", null],
  ["NULL", null],
  ["true", true],
  ["True", true],
  ["TRUE", true],
  ["false", false],
  ["False", false],
  ["FALSE", false],
]);

/** Resolves a plain scalar by the core schema of YAML 1.2: `no` is a string, `0o17` a number. */
export function resolvePlain(text: string): Scalar {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (!mayBeNumber(text.charCodeAt(0))) return text;
  if (INTEGER.test(text)) {
    return text.length <= MAX_EXACT_DIGITS ? Number(text) : jsonInteger(BigInt(text.replace(/^\+/, "")));
  }
  if (OCTAL.test(text) || HEXADECIMAL.test(text)) return jsonInteger(BigInt(text));
  if (FRACTION.test(text) || EXPONENT.test(text)) return jsonNumber(Number(text));
  if (SPECIAL.test(text)) return specialNumber(text);
  return text;
}

/** An integer as protobuf JSON: a string if a number would lose digits. */
export function jsonInteger(value: bigint): Scalar {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** A number as protobuf JSON: a string if it is not finite. */
export function jsonNumber(value: number): Scalar {
  if (Number.isFinite(value)) return value;
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

function specialNumber(text: string): Scalar {
  if (text.toLowerCase() === ".nan") return "NaN";
  return text.startsWith("-") ? "-Infinity" : "Infinity";
}

/** Whether a character is a digit, a sign or a point. */
function mayBeNumber(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46;
}
