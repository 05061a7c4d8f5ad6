import { nameOfUrl, type TypeName, urlOf } from "../../content/catalog.ts";
import type { StreamPurpose } from "./driver.ts";

/** What a case about a type calls a stream. */
export function streamName({ source, onlyType, server }: StreamPurpose, type: TypeName): string {
  const ofType = onlyType === undefined || onlyType === urlOf(type) ? "" : ` ${nameOfUrl(onlyType)}`;
  return `${source}${ofType}${server === 0 ? "" : ` at ${server}`}`;
}
