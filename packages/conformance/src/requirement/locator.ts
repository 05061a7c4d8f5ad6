import type { Requirement } from "./requirement.ts";

/** Variants of resources, redirects, and smaller additions (requirements 5.2, 5.3, 5.10). */
export const locatorRequirements: readonly Requirement[] = [
  {
    id: "S-LOC-03",
    level: "must",
    scope: "gRPC",
    says: "A name may have several variants, each for clients whose dynamic parameters meet its constraints; name and constraints together say which.",
    amended: "Of several layers, the top-most that has anything of the name gives all of its variants.",
  },
  {
    id: "B-LOC-04",
    level: "must",
    scope: "gRPC",
    says: "A constraint is met by an equal value, by a parameter that exists, by any or all of others, or where another is not met; without one by everybody. Other parameters do not matter.",
  },
  {
    id: "S-LOC-05",
    level: "must",
    scope: "gRPC",
    says: "The variant that fits is sent, always with its constraints in `resource_name`, and without a `name`.",
    amended:
      "To a client that never sent a locator of the type it is sent under its plain name: an unnamed resource means nothing to such a one.",
  },
  {
    id: "S-LOC-06",
    level: "must",
    scope: "delta",
    says: "That a variant is gone is told in `removed_resource_names`, never in `removed_resources`.",
  },
  {
    id: "S-LOC-07",
    level: "must",
    scope: "gRPC",
    says: "Where others take the place of a variant, removal and additions are told in one response.",
  },
  {
    id: "S-LOC-08",
    level: "must",
    scope: "gRPC",
    says: "Variants of a name constrain the same parameters and are disjoint, or they are refused. Where none fits there is no such resource.",
    amended: "What does not exist for parameters is told by name and these parameters as constraints.",
  },
  {
    id: "B-LOC-09",
    level: "must",
    scope: "gRPC",
    says: "A subscription is a name with parameters; the same name with others is another one.",
    amended: "`initial_resource_versions` has names only: which variant a client holds, its version says.",
  },
  {
    id: "B-LOC-11",
    level: "must",
    scope: "gRPC",
    says: "A plain name is a locator without parameters.",
  },
  {
    id: "B-XTP-07",
    level: "must",
    scope: "everywhere",
    says: "A list collection is one resource with entries that are resources or locators of such.",
    amended: "Passed on as it is; what inline entries refer to is looked for as anywhere.",
  },
  {
    id: "S-XTP-10",
    level: "may",
    scope: "everywhere",
    says: "In place of a list collection or of a single member of a glob a locator may be sent, never in place of a glob.",
    amended: "The name around the locator says the type, so it is an xdstp name.",
  },
  {
    id: "B-MSC-01",
    level: "must",
    scope: "gRPC",
    says: "`cache_control.do_not_cache` is passed on; it is for proxies in between.",
  },
  {
    id: "S-MSC-02",
    level: "must",
    scope: "gRPC",
    says: "The metadata of a resource is passed on unchanged.",
  },
  {
    id: "B-MSC-03",
    level: "may",
    scope: "State of the World",
    says: "`canary` of a response is passed on, and changes nothing else.",
  },
  {
    id: "S-MSC-04",
    level: "should",
    scope: "everywhere",
    says: "A client with the feature `envoy.config.require-any-fields-contain-struct` is given extensions as structs.",
    amended: "By a function that whoever embeds the server hands in; called once for each resource.",
  },
  {
    id: "S-MSC-05",
    level: "should",
    scope: "everywhere",
    says: "That a client does not support overprovisioning can be seen by what decides on its resources.",
  },
  {
    id: "B-MSC-09",
    level: "must",
    scope: "everywhere",
    says: "Fields that nobody knows are passed on, and ignored where they are used.",
  },
];
