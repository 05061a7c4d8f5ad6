import type { Resource } from "./resource.ts";
import type { TypeTraits } from "./type-traits.ts";

/** A resource, or a former state of it without its bytes. */
export type Bound = { readonly addresses?: readonly string[] } | Pick<Resource, "bytes">;

const none: readonly string[] = [];
const known = new WeakMap<Uint8Array, readonly string[]>();

/** Returns the addresses that a resource binds, or that a former state of it bound. Each resource is read once. */
export function addressesOf(
  state: Bound | undefined,
  { addressesIn }: Pick<TypeTraits, "addressesIn">,
): readonly string[] {
  if (state === undefined || addressesIn === undefined) return none;
  if (!("bytes" in state)) return state.addresses ?? none;
  const read = known.get(state.bytes);
  if (read !== undefined) return read;
  const addresses = addressesIn(state.bytes);
  known.set(state.bytes, addresses);
  return addresses;
}

/** Returns the addresses of one state that another one does not have. */
export function addressesBeyond(one: readonly string[], other: readonly string[]): readonly string[] {
  return one === other ? none : one.filter((address) => !other.includes(address));
}
