import type { DanglingReason, MeshResource, MeshSnapshot } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { messageNameOf, type TypeUrl } from "@xdskit/protocol";
import { plural } from "../output/problems.ts";

/** A type as people call it: `cds`, or the name of its message. */
export function shortNameOf(type: TypeUrl, api: EnvoyApi): string {
  const entry = api.types.find((one) => one.type === type || one.v2Twin === type);
  return entry === undefined || entry.shortName === "" ? messageNameOf(type) : entry.shortName;
}

/** What a mesh waits for, in one line. */
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

/** Why a name leads nowhere, as the end of a sentence. */
export const danglingWords: Readonly<Record<DanglingReason, string>> = {
  absent: "there is none",
  "no-answer": "nobody answered",
  error: "what came of it cannot be used",
  warming: "it is not usable, because something that it needs is missing",
  source: "the source that it should come from cannot be used",
};

/** What is said of something that a server gave, and that is not used. */
export const overruledWords = "the bootstrap has one of that name, which stands; that of the server is not used";
