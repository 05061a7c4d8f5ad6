import type { Requirement } from "../requirement.ts";

/** WRM, ADS: warming, and sources that share a stream. */
export const warmingRules: readonly Requirement[] = [
  {
    id: "C-WRM-01",
    level: "must",
    scope: "everywhere",
    says: "A Cluster that takes its endpoints from EDS warms until it has them, a Listener that takes its routes from RDS until it has those. Others are ready at once.",
  },
  {
    id: "C-WRM-02",
    level: "must",
    scope: "everywhere",
    says: "An update warms like something new, and meanwhile what it replaces is used.",
  },
  {
    id: "C-WRM-03",
    level: "must",
    scope: "everywhere",
    says: "A start waits for what warms, 15 s at most unless set otherwise; 0 is for ever.",
  },
  {
    id: "C-WRM-04",
    level: "must",
    scope: "everywhere",
    says: "An updated cluster waits for its endpoints to be sent again. If they are not, those that are held serve once the time is over (`edsCache`).",
    amended:
      "It waits only where one aggregated stream carries both, and until that stream breaks. Elsewhere nothing keeps the order, or nothing is sent again, and those that are held serve at once.",
  },
  {
    id: "C-WRM-05",
    level: "must",
    scope: "everywhere",
    says: "A Listener whose routes are held does not wait.",
  },
  {
    id: "C-WRM-06",
    level: "must",
    scope: "everywhere",
    says: "Routes do not warm: they are used though a cluster is missing.",
  },
  {
    id: "C-WRM-07",
    level: "must",
    scope: "everywhere",
    says: "Clusters warm when they are added and when they are updated.",
  },
  {
    id: "C-WRM-13",
    level: "must",
    scope: "everywhere",
    says: "At the start clusters come before listeners: those of the configuration, those of CDS, then LDS and RDS.",
  },
  {
    id: "C-WRM-14",
    level: "must",
    scope: "everywhere",
    says: "Endpoints are asked for by the service name of a cluster, or by its own name where that is empty. Several clusters may share them.",
  },
  {
    id: "B-ADS-01",
    level: "must",
    scope: "ADS",
    says: "On one stream each type has its own names, version, nonce and answers.",
  },
  {
    id: "C-ADS-02",
    level: "must",
    scope: "ADS",
    says: "Whatever says `ads`, wherever it stands, shares one stream.",
  },
  {
    id: "C-ADS-03",
    level: "must",
    scope: "ADS",
    says: "The configuration of ADS says whether it is spoken in State of the World or delta; the two are not mixed.",
  },
  {
    id: "C-ADS-06",
    level: "must",
    scope: "ADS",
    says: "Where only ADS is spoken, a resource that names another source is refused.",
  },
  {
    id: "B-ADS-07",
    level: "must",
    scope: "everywhere",
    says: "There is no ADS by REST or from files; a configuration that wants it is refused.",
  },
];
