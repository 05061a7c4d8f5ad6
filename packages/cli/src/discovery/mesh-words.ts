import type { DanglingReason, MeshResource, MeshSnapshot } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { messageNameOf, type TypeUrl } from "@xdskit/protocol";
import { plural } from "../output/problems.ts";

/** The short name of a type, such as `cds`, else the name of its message. */
export function shortNameOf(type: TypeUrl, api: EnvoyApi): string {
  const entry = api.types.find((one) => one.type === type || one.v2Twin === type);
  return entry === undefined || entry.shortName === "" ? messageNameOf(type) : entry.shortName;
}

/** Describes how many resources arrived and what is missing, in one line. */
export function describeProgress(snapshot: MeshSnapshot, api: EnvoyApi): string {
  const there: MeshResource[] = [];
  const open: MeshResource[] = [];
  for (const one of snapshot.all.values()) {
    if (one.state === "requested" || one.state === "warming") open.push(one);
    else if (one.resource !== undefined) there.push(one);
  }
  const waiting = open.slice(0, 3).map(({ type, name }) => `${shortNameOf(type, api)} ${name}`);
  const more = open.length > waiting.length ? ` and ${open.length - waiting.length} more` : "";
  const waits = open.length === 0 ? "" : `, waiting for ${waiting.join(", ")}${more}`;
  return `${plural(there.length, "resource")}${waits}`;
}

/** Why a reference is dangling, as the end of a sentence. */
export const danglingWords: Readonly<Record<DanglingReason, string>> = {
  absent: "there is none",
  "no-answer": "nobody answered",
  error: "what came of it cannot be used",
  warming: "it is not usable, because something that it needs is missing",
  source: "the source that it should come from cannot be used",
};

/** What is printed about a server's resource that a static one of the bootstrap overrides. */
export const overruledWords = "the bootstrap has one of that name, which stands; that of the server is not used";
