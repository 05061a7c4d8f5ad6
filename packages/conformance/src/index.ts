export type {
  Booking,
  Case,
  Expectation,
  NodeLayers,
  NodeSpec,
  Publication,
  Request,
  Response,
  Setup,
  Step,
  Stimulus,
  StreamKind,
  StreamSpec,
} from "./case.ts";
export { clientCases } from "./cases/client/cases.ts";
export { serverCases } from "./cases/server/cases.ts";
export type {
  ClientCase,
  ClientExpectation,
  ClientSetup,
  ClientStep,
  ClientStimulus,
  ClientStreamKind,
  Garbage,
  Meeting,
  ScriptedResource,
  ScriptedResponse,
  SentRequest,
  SourceSetup,
} from "./client-case.ts";
export type { TypeName } from "./content/catalog.ts";
export type { Content, DetailedResource, ResourceSpec } from "./content/content.ts";
export {
  connectPeer,
  PeerConnectionError,
  type PeerOptions,
  type PeerTls,
  type WirePeer,
} from "./peer/connect-peer.ts";
export { FrameError, FrameReader } from "./peer/frame.ts";
export type { PeerStream, PeerStreamOptions } from "./peer/peer-stream.ts";
export { type PlayedClient, playClientInMemory } from "./play/client/in-memory.ts";
export { playClientOverTheWire } from "./play/client/over-the-wire.ts";
export { type ClientPlay, clientPlaysOf } from "./play/client/plays.ts";
export { type BookingObservation, type Change, type Commit, UnsupportedStep } from "./play/driver.ts";
export { type Machine, playInMemory } from "./play/in-memory.ts";
export { playOverTheWire } from "./play/over-the-wire.ts";
export type { Verdict } from "./play/play.ts";
export { type Play, playsOf } from "./play/plays.ts";
export { clientRequirements } from "./requirement/client/rules.ts";
export { clientPoints } from "./requirement/client-further.ts";
export { type Coverage, coverageOf, idsOf, isMissing } from "./requirement/coverage.ts";
export { type EditionRow, editionRows } from "./requirement/editions.ts";
export type { Point } from "./requirement/further.ts";
export { renderClientPage, renderPage } from "./requirement/page.ts";
export { type Proof, proofsIn, provesFor, type Side } from "./requirement/proofs.ts";
export type { Level, Requirement, Scope } from "./requirement/requirement.ts";
export { requirements } from "./requirement/requirements.ts";
export type { ClientTarget, ReachableSource, RunningClient } from "./target/client-target.ts";
export { goControlPlaneProgram } from "./target/go-control-plane.ts";
export { LineProgram } from "./target/line-program.ts";
export { createOurClient } from "./target/our-client.ts";
export type { Pace, RunningServer, Target } from "./target/target.ts";
