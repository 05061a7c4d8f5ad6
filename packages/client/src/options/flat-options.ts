import type { ClientLimits, ReadingOptions, TransportOptions, ValidationOptions, XdsClientOptions } from "./options.ts";

type Group = "reading" | "transport" | "limits" | "validation";

/** The options of a client without their groups, as the modules that apply them read them. */
export type FlatOptions = Omit<XdsClientOptions, Group> &
  ReadingOptions &
  TransportOptions &
  ClientLimits &
  ValidationOptions;

/** Takes the options out of their groups; no two groups share a name. */
export function flatten({ reading, transport, limits, validation, ...others }: XdsClientOptions): FlatOptions {
  return { ...others, ...reading, ...transport, ...limits, ...validation };
}
