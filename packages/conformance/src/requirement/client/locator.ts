import type { Requirement } from "../requirement.ts";

/** LOC, XTP: variants, dynamic parameters, xdstp names. */
export const locatorRules: readonly Requirement[] = [
  {
    id: "C-LOC-01",
    level: "must",
    scope: "everywhere",
    says: "With parameters configured, names are asked for together with them, beside names without.",
  },
  {
    id: "C-LOC-02",
    level: "must",
    scope: "State of the World",
    says: "Who asks with parameters takes resources in wrappers.",
  },
  {
    id: "B-LOC-04",
    level: "must",
    scope: "everywhere",
    says: "Constraints are true or not of parameters: equal, present, any of, all of, not; none at all is true.",
  },
  {
    id: "B-LOC-09",
    level: "must",
    scope: "everywhere",
    says: "A name with other parameters is another wish.",
  },
  {
    id: "C-LOC-10",
    level: "may",
    scope: "everywhere",
    says: "One set of parameters serves for a whole source, and an answer that does not fit it may be dropped.",
  },
  {
    id: "B-LOC-11",
    level: "must",
    scope: "everywhere",
    says: "A name without parameters is a name with none.",
  },
  {
    id: "B-XTP-01",
    level: "must",
    scope: "everywhere",
    says: "`xdstp://` names are read and written with their authority, type, path, parameters and directives.",
  },
  {
    id: "B-XTP-02",
    level: "must",
    scope: "everywhere",
    says: "Names are equal whatever the order of their parameters.",
  },
  {
    id: "C-XTP-03",
    level: "must",
    scope: "everywhere",
    says: "Directives do not leave the client.",
  },
  {
    id: "B-XTP-05",
    level: "must",
    scope: "delta",
    says: "A glob collection gives a resource for each member; an empty one is told as removed.",
  },
  {
    id: "B-XTP-07",
    level: "must",
    scope: "everywhere",
    says: "A list collection gives what it lists: what stands in it, and what it points to.",
  },
  {
    id: "C-XTP-08",
    level: "must",
    scope: "everywhere",
    says: "The source of a name is that of its authority: by the source it was named in, by the bootstrap in order, by default, or none.",
  },
  {
    id: "C-XTP-09",
    level: "must",
    scope: "everywhere",
    says: "Each aggregated source of an authority has its one stream.",
  },
  {
    id: "C-XTP-11",
    level: "should",
    scope: "everywhere",
    says: "`alt=` is used when the authority of a name cannot be reached.",
  },
  {
    id: "C-XTP-12",
    level: "must",
    scope: "everywhere",
    says: "Collections named by the bootstrap take the place of all Listeners and Clusters, with the parameters of the node.",
  },
];
