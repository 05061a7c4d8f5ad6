import type { Peer, Status } from "@xdskit/protocol";
import type { HubPort, StreamEnd } from "../../hub/port.ts";
import type { GrpcCall } from "./call.ts";

/** The context of a call. */
export interface MethodPorts {
  readonly hub: HubPort;
  /** The number of the connection that the call came over. */
  readonly connection: number;
  /** `host:port` of the client. */
  readonly address: string;
  readonly peer: Peer;
}

/** Ends the call from the server side. */
export type Dismiss = (status: Status, reason: StreamEnd) => void;

/** A gRPC method: accepts a call and handles it until it closes. */
export type GrpcMethod = (call: GrpcCall, ports: MethodPorts) => Dismiss;
