const FLAG = "--descriptors FILE";

/** The hint at fields, values and extensions without a descriptor. */
export const DESCRIPTORS_HINT: string = `what is newer than this version, or private, needs its descriptors: ${FLAG}`;
/** The hint at types without a descriptor. */
export const TYPE_HINT: string = `add its descriptors with ${FLAG}, or give the message encoded: in a .pb file, or as "value" in base64`;

/** A hint as it is told by a library, whose user has no command line. */
export function withoutFlags(hint: string): string {
  return hint.replace(`: ${FLAG}`, "").replace(` with ${FLAG}`, "");
}
