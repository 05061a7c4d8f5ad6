import type { EntryPoint, Node, Peer } from "@xdskit/protocol";
import { entryPoints, hostOf, readClaim, type StreamState } from "@xdskit/protocol/internal";
import { isCounted } from "../../judged-nodes.ts";
import type { AccessAnswer, AccessClientAnswer } from "../answers/access.ts";
import { inTurn } from "../merge/merge.ts";
import { QueryError } from "../query.ts";
import { page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { accessAnswer, accessClientsAnswer, accessRulesAnswer } from "../schema/access.ts";
import type { AdminView } from "../view.ts";
import { chosenType } from "./resources.ts";

/** What the access rules in force say to a caller, and why. */
export const access: Route = {
  path: "/api/v1/access",
  says: "whether a caller may come in, or have a type or a resource, and which rule says so",
  parameters: {
    entry: "the entry point (default: ads)",
    identity:
      "identity of the caller: uri:URI, dns:NAME, cn:NAME, address:IP, certificate, tls, loopback, and for roles ip: and email:; may be repeated",
    node: "the node id that it claims",
    cluster: "the cluster that it claims",
    type: "a type: cds, eds … or a type URL",
    name: "the name of a resource of that type",
  },
  kinds: { entry: entryPoints, identity: "texts" },
  answers: { 200: accessAnswer },
  answer({ view }, query) {
    const identities = [...(query.texts("identity") ?? [])];
    const claim = readClaim({
      entryPoint: query.text("entry"),
      identities,
      role: view.adminRole(identities),
      node: query.text("node"),
      cluster: query.text("cluster"),
      validTo: new Date(),
    });
    if ("problem" in claim) throw new QueryError(400, claim.problem);
    const type = chosenType(view, query);
    const name = query.text("name");
    if (name !== undefined && type === undefined) throw new QueryError(400, "name: expected a type with it");
    const { isAllowed, ...verdict } = view.explainAccess(claim, type === undefined ? undefined : { type, name });
    const layers = claim.node === undefined ? [] : view.place(claim.node, claim.peer);
    const value: AccessAnswer = {
      allowed: isAllowed,
      entry: claim.entryPoint,
      ...(claim.node !== undefined && { node: claim.node.id }),
      layers: "refused" in layers ? [] : layers,
      ...(type !== undefined && { type }),
      ...(name !== undefined && { name }),
      ...verdict,
    };
    return { kind: "json", value };
  },
};

/** The access rules in force. */
export const accessRules: Route = {
  path: "/api/v1/access/rules",
  says: "the access rules in force",
  parameters: {},
  answers: { 200: accessRulesAnswer },
  answer: ({ view }) => ({ kind: "json", value: view.accessRules() }),
};

/** Who is connected, as access rules see it. */
export const accessClients: Route = {
  path: "/api/v1/access/clients",
  says: "connected clients, with what access rules know them by",
  parameters: pageParameters,
  kinds: pageKinds,
  merge: inTurn,
  answers: { 200: accessClientsAnswer },
  answer: ({ view }, query) => page(query, findClients(view)),
};

function* findClients(view: AdminView): Iterable<Step<AccessClientAnswer>> {
  const { rules } = view.accessRules();
  const fields = [...new Set((rules?.rules ?? []).flatMap(({ metadata = {} }) => Object.keys(metadata)))];
  for (const state of view.streams())
    yield state.peer.isInProcess === true || !isCounted(state) ? undefined : () => describeClient(state, fields);
}

function describeClient(
  { node, peer, types, onlyType, isPoller }: StreamState & { readonly node: Node },
  fields: readonly string[],
): AccessClientAnswer {
  const entry: EntryPoint = isPoller === true ? "rest" : onlyType === undefined ? "ads" : "stream";
  const metadata = fields.flatMap((field): readonly (readonly [string, string])[] => {
    const value = Object.hasOwn(node.metadata, field) ? node.metadata[field] : undefined;
    return typeof value === "string" ? [[field, value]] : [];
  });
  return {
    ...{
      entry,
      peer: peer.address,
      identities: identitiesOf(peer),
      node: node.id,
      cluster: node.cluster,
    },
    metadata: Object.fromEntries(metadata),
    types: types.map(({ type }) => type),
  };
}

function identitiesOf({ address, certificate, isTls }: Peer): readonly string[] {
  const where = `address:${hostOf(address).replace(/^\[|\]$/g, "")}`;
  if (certificate === undefined) return isTls ? [where, "tls"] : [where];
  const { uris, dnsNames, commonName } = certificate;
  return [
    ...[where, "certificate"],
    ...uris.map((name) => `uri:${name}`),
    ...dnsNames.map((name) => `dns:${name}`),
    ...(commonName === undefined ? [] : [`cn:${commonName}`]),
  ];
}
