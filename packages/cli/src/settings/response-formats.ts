import type { ResponseFormat } from "@xdskit/envoy-api";

/** The forms of files that clients follow. */
export const responseFormats: readonly ResponseFormat[] = ["yaml", "json", "pb", "pb_text"];
