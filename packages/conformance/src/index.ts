export {
  connectPeer,
  PeerConnectionError,
  type PeerOptions,
  type PeerTls,
  type WirePeer,
} from "./peer/connect-peer.ts";
export type { PeerStream, PeerStreamOptions } from "./peer/peer-stream.ts";
