import type {
  DialectAnswer,
  NodeAnswer,
  NodeAnswerIdentity,
  NodesAnswer,
  StreamAnswer,
  StreamsAnswer,
} from "../answers/nodes.ts";
import { typeAnswer } from "./deliveries.ts";
import { page } from "./page.ts";
import {
  choice,
  count,
  list,
  type Members,
  named,
  object,
  optional,
  type SchemaOf,
  text,
  time,
  truth,
  yes,
} from "./schema.ts";

const locality = object<NonNullable<NodeAnswerIdentity["locality"]>>({ region: text, zone: text, subZone: text });

export const identity: Members<NodeAnswerIdentity> = {
  id: text,
  cluster: text,
  locality: optional(locality),
  userAgent: text,
};

const dialect: SchemaOf<DialectAnswer> = named(
  "Dialect",
  object<DialectAnswer>({
    edition: text,
    editionBy: optional(text),
    client: optional(text),
    listener: optional(text),
    clients: optional(text),
    switches: list(object<DialectAnswer["switches"][number]>({ name: text, value: text, by: text })),
  }),
);

const onStream = {
  stream: count,
  apiVersion: choice("v2", "v3"),
  variant: choice("sotw", "delta"),
  isPoller: optional(yes),
};

export const nodesAnswer: SchemaOf<NodesAnswer> = page(
  "Nodes",
  named(
    "Node",
    object<NodeAnswer>({
      ...identity,
      streams: list(object<NodeAnswer["streams"][number]>({ ...onStream, peer: text, dialect: optional(dialect) })),
      layers: list(text),
      connectedAt: optional(time),
      lastRequestAt: optional(time),
      types: list(typeAnswer),
    }),
  ),
);

export const nodeIdentity: SchemaOf<NodeAnswerIdentity> = named("NodeIdentity", object<NodeAnswerIdentity>(identity));

export const streamsAnswer: SchemaOf<StreamsAnswer> = page(
  "Streams",
  named(
    "Stream",
    object<StreamAnswer>({
      ...onStream,
      onlyType: optional(text),
      peer: object<StreamAnswer["peer"]>({ address: text, isTls: truth, names: list(text) }),
      node: optional(nodeIdentity),
      dialect: optional(dialect),
      layers: list(text),
      openedAt: optional(time),
      lastRequestAt: optional(time),
      lastResponseAt: optional(time),
      types: list(typeAnswer),
    }),
  ),
);
