import type { Requirement } from "./requirement.ts";

/** RST: polling and long polling in JSON. */
export const restRequirements: readonly Requirement[] = [
  {
    id: "B-RST-01",
    level: "must",
    scope: "REST",
    says: "A poll is a POST of a whole DiscoveryRequest as JSON to the path of its type; 200 brings a whole DiscoveryResponse.",
  },
  {
    id: "B-RST-02",
    level: "must",
    scope: "REST",
    says: "What is written is canonical JSON of proto3; what is read may also have the names of the proto files, and null for what is not there.",
  },
  {
    id: "S-RST-03",
    level: "may",
    scope: "REST",
    says: "A client that has what there is gets 304 and no body.",
  },
  {
    id: "B-RST-05",
    level: "must",
    scope: "REST",
    says: "Single types only are served over REST. Aggregation and every form of delta are refused.",
    amended: "404 with a body that names what to use instead.",
  },
  {
    id: "B-RST-07",
    level: "may",
    scope: "REST",
    says: "Nonces may be left out on either side; a client that was given one repeats it.",
    amended: "The nonce of an answer is its version, so it is the same for all who are told the same, on every server.",
  },
  {
    id: "S-RST-10",
    level: "should",
    scope: "REST",
    says: "A poll of a client that has what there is may be held until that changes or a limit passes, and is told 304 then. What has not changed is never sent with 200.",
    amended: "Held unless `restLongPoll` is off.",
  },
  {
    id: "S-RST-11",
    level: "must",
    scope: "REST",
    says: "The limit is a setting below the client's timeout. A client that goes away frees its poll.",
    amended: "80 % of `x-envoy-expected-rq-timeout-ms` where it is sent, else 0.8 s; at most 30 s.",
  },
  {
    id: "S-RST-12",
    level: "must",
    scope: "REST",
    says: "A client that refuses an answer does not get it again at once.",
    amended:
      "An answer that was given to node, type and names within the limit is delayed to that limit, then given. A poll without a version is answered at once.",
  },
  {
    id: "S-RST-13",
    level: "must",
    scope: "REST",
    says: "Resources that are asked for anew are given even if the version of the type has not changed.",
    amended: "The version is made from what is selected.",
  },
  {
    id: "S-RST-14",
    level: "must",
    scope: "REST",
    says: "A poll stands for itself: naming nothing, or `*`, means everything, whatever was named before.",
  },
  {
    id: "S-RST-19",
    level: "must",
    scope: "REST",
    says: "A wrong method is 405, an unknown path 404, a body that is no request 400, one that is too long 413, a mistake of ours 500, a server that is not ready or goes 503. An answer is whole or none.",
  },
  {
    id: "B-RST-21",
    level: "must",
    scope: "REST",
    says: "The colon of a path may be escaped.",
  },
];
