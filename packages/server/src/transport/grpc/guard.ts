import type { EntryPoint, Node } from "@xdskit/protocol";
import type { GrpcCall } from "./call.ts";
import type { GrpcMethod, MethodPorts } from "./method.ts";

/** Ends a call that access refuses, now or after a change of the rules. Returns whether it goes on. */
export function guard(
  call: GrpcCall,
  { hub, peer }: Pick<MethodPorts, "hub" | "peer">,
  entryPoint: EntryPoint,
  node?: Node,
): boolean {
  const isAdmitted = (): boolean => {
    const granted = hub.admit(entryPoint, peer, node);
    if ("code" in granted) call.end(granted);
    return !("code" in granted);
  };
  if (!isAdmitted()) return false;
  call.onGone(hub.watchAccess(isAdmitted));
  return true;
}

/** A method of an entry point where callers speak for no node. */
export function guarded(method: GrpcMethod, entryPoint: EntryPoint): GrpcMethod {
  return (call, ports) => (guard(call, ports, entryPoint) ? method(call, ports) : () => undefined);
}
