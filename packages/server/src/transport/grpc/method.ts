import type { Peer, Status } from "@xdskit/protocol";
import type { HubPort } from "../../hub/port.ts";
import type { GrpcCall } from "./call.ts";

/** What a method knows beside its call. */
export interface MethodPorts {
  readonly hub: HubPort;
  /** The number of the connection that the call came over. */
  readonly connection: number;
  /** `host:port` of the client. */
  readonly address: string;
  readonly peer: Peer;
}

/** What a method gives back: how to end the call from our side. */
export type Dismiss = (status: Status) => void;

/** One gRPC method: takes a call, accepts it, and answers for it until it is closed. */
export type GrpcMethod = (call: GrpcCall, ports: MethodPorts) => Dismiss;
