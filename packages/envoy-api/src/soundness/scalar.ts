import { ScalarType } from "@bufbuild/protobuf";
import { fixed32Tag, fixed64Tag, lengthTag, varintTag } from "../wire/reader.ts";

/** Returns the tag of a field of this type as encoders write it, unpacked. */
export function scalarTag(field: number, scalar: ScalarType): number {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return lengthTag(field);
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return fixed32Tag(field);
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return fixed64Tag(field);
    default:
      return varintTag(field);
  }
}

const CHECKABLE: ReadonlySet<ScalarType> = new Set([
  ScalarType.STRING,
  ScalarType.BYTES,
  ScalarType.BOOL,
  ScalarType.INT32,
  ScalarType.UINT32,
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.FLOAT,
  ScalarType.DOUBLE,
]);

/** Whether values of this type can be checked from their bytes. Envoy has no rules for the others. */
export function isCheckable(scalar: ScalarType): boolean {
  return CHECKABLE.has(scalar);
}

/** Returns the default value of this type, as the rules take it. */
export function zeroOf(scalar: ScalarType): unknown {
  switch (scalar) {
    case ScalarType.STRING:
      return "";
    case ScalarType.BYTES:
      return new Uint8Array();
    case ScalarType.BOOL:
      return false;
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
    case ScalarType.SINT64:
      return 0n;
    default:
      return 0;
  }
}
