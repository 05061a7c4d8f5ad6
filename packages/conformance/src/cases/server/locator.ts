import type { Constraints } from "@xdskit/protocol";
import type { Case } from "../../case.ts";

const env = (value: string): Constraints => ({ kind: "value", key: "env", value });
const hasEnv: Constraints = { kind: "exists", key: "env" };
const not = (of: Constraints): Constraints => ({ kind: "not", of });
const any = (...of: Constraints[]): Constraints => ({ kind: "any", of });
const all = (...of: Constraints[]): Constraints => ({ kind: "all", of });
const zone = (value: string): Constraints => ({ kind: "value", key: "zone", value });

const prod = '[env = "prod"]';
const test = '[env = "test"]';

/** LOC: variants of a resource, of which a client gets the one that matches its dynamic parameters. */
export const locatorCases: readonly Case[] = [
  {
    id: "S-LOC-03",
    also: ["S-LOC-05", "B-LOC-04"],
    says: "tells a client the variant that fits its parameters, under its constraints, and of changes of no other",
    variant: "delta",
    type: "rds",
    steps: [
      {
        publishes: {
          rds: [
            { is: "r@p1", when: env("prod") },
            { is: "r@t1", when: env("test") },
          ],
        },
      },
      { receives: { locators: ["r {env=prod, zone=a}"] }, sends: [{ resources: [`r@p1 ${prod}`] }] },
      { receives: { ack: true } },
      { publishes: { rds: [{ is: "r@t2", when: env("test") }] } },
      { publishes: { rds: [{ is: "r@p2", when: env("prod") }] }, sends: [{ resources: [`r@p2 ${prod}`] }] },
    ],
  },
  {
    id: "S-LOC-03",
    also: ["S-LOC-05"],
    says: "tells a client the variant that fits its parameters, in a wrapper with its constraints",
    variant: "sotw",
    type: "rds",
    steps: [
      {
        publishes: {
          rds: [{ is: "r@p1", when: env("prod") }, { is: "r@t1", when: env("test") }, "plain@1"],
        },
      },
      {
        receives: { names: ["plain"], locators: ["r {env=prod}"] },
        sends: [{ resources: ["plain@1", `r@p1 ${prod}`] }],
      },
      { receives: { ack: true } },
      { publishes: { rds: [{ is: "r@t2", when: env("test") }] } },
      { publishes: { rds: [{ is: "r@p2", when: env("prod") }] }, sends: [{ resources: [`r@p2 ${prod}`] }] },
    ],
  },
  {
    id: "S-LOC-03/full-state",
    also: ["S-LOC-07"],
    says: "lists the fitting variant among all clusters that a client asks for, and another one in its place",
    variant: "sotw",
    type: "cds",
    steps: [
      {
        publishes: {
          cds: [{ is: "c@p1", when: env("prod") }, { is: "c@t1", when: env("test") }, "plain@1"],
        },
      },
      {
        receives: { locators: ["c {env=prod}", "plain {}"] },
        sends: [{ resources: ["plain@1", `c@p1 ${prod}`] }],
      },
      { receives: { ack: true } },
      {
        publishes: {
          cds: [
            { is: "-c", when: env("prod") },
            { is: "-c", when: env("test") },
            { is: "c@e1", when: hasEnv },
          ],
        },
        sends: [{ resources: ["plain@1", "c@e1 [env exists]"] }],
      },
    ],
  },
  {
    id: "B-LOC-04",
    says: "takes a value that is equal, a parameter that exists, any, all, and not, and minds no other parameter",
    variant: "delta",
    type: "rds",
    steps: [
      {
        publishes: {
          rds: [
            { is: "r@1", when: all(any(env("prod"), env("test")), zone("x")) },
            { is: "r@2", when: all(any(env("prod"), env("test")), not(zone("x"))) },
            { is: "r@3", when: all(not(any(env("prod"), env("test"))), hasEnv, any(zone("x"), not(zone("x")))) },
            { is: "r@4", when: all(not(hasEnv), any(zone("x"), not(zone("x")))) },
          ],
        },
      },
      {
        receives: { locators: ["r {env=test, zone=x, other=y}"] },
        sends: [{ resources: ['r@1 [zone = "x" and (env = "prod" or env = "test")]'] }],
      },
      { receives: { ack: true } },
      {
        receives: { locators: ["r {env=prod}"] },
        sends: [{ resources: ['r@2 [not (zone = "x") and (env = "prod" or env = "test")]'] }],
      },
      { receives: { ack: true } },
      {
        receives: { locators: ["r {env=}"] },
        sends: [
          {
            resources: ['r@3 [not (env = "prod" or env = "test") and env exists and (not (zone = "x") or zone = "x")]'],
          },
        ],
      },
      { receives: { ack: true } },
      {
        receives: { locators: ["r {zone=x}"] },
        sends: [{ resources: ['r@4 [not (env exists) and (not (zone = "x") or zone = "x")]'] }],
      },
    ],
  },
  {
    id: "S-LOC-05",
    also: ["B-LOC-11"],
    says: "tells constraints to a client that knows locators, and the fitting resource under its name to any other",
    variant: "delta",
    type: "rds",
    steps: [
      {
        publishes: {
          rds: [
            { is: "r@p1", when: env("prod") },
            { is: "r@1", when: not(env("prod")) },
          ],
        },
      },
      { receives: { locators: ["r {}"] }, sends: [{ resources: ['r@1 [not (env = "prod")]'] }] },
      { receives: { ack: true } },
      { opens: { other: { connection: "c2" } } },
      { receives: { subscribe: ["r"] }, on: "other", sends: [{ on: "other", resources: ["r@1"] }] },
      { receives: { ack: true }, on: "other" },
      {
        publishes: { rds: [{ is: "r@2", when: not(env("prod")) }] },
        sends: [{ resources: ['r@2 [not (env = "prod")]'] }, { on: "other", resources: ["r@2"] }],
      },
    ],
  },
  {
    id: "S-LOC-05/wildcard",
    says: "gives a wildcard without locators what is for clients without parameters, under its name",
    variant: "sotw",
    type: "cds",
    steps: [
      {
        publishes: {
          cds: [
            { is: "c@p1", when: env("prod") },
            { is: "c@1", when: not(env("prod")) },
            { is: "d@p1", when: env("prod") },
            "plain@1",
          ],
        },
      },
      { receives: {}, sends: [{ resources: ["c@1", "plain@1"] }] },
      { receives: { ack: true } },
      { publishes: { cds: [{ is: "d@p2", when: env("prod") }] } },
      {
        publishes: { cds: [{ is: "c@2", when: not(env("prod")) }] },
        sends: [{ resources: ["c@2", "plain@1"] }],
      },
    ],
  },
  {
    id: "S-LOC-05/everything",
    says: "gives who asks for everything with parameters the fitting variant of each name",
    variant: "delta",
    type: "cds",
    steps: [
      {
        publishes: {
          cds: [
            { is: "c@p1", when: env("prod") },
            { is: "c@1", when: not(env("prod")) },
            { is: "d@t1", when: env("test") },
            "plain@1",
          ],
        },
      },
      { receives: { locators: ["* {env=prod}"] }, sends: [{ resources: [`c@p1 ${prod}`, "plain@1"] }] },
      { receives: { ack: true } },
      {
        publishes: {
          cds: [
            { is: "e@p1", when: env("prod") },
            { is: "-c", when: env("prod") },
          ],
        },
        sends: [{ resources: [`e@p1 ${prod}`], removed: [`c ${prod}`] }],
      },
    ],
  },
  {
    id: "S-LOC-06",
    says: "tells that a variant is gone by its name and constraints, and of a plain resource by its name",
    variant: "delta",
    type: "rds",
    steps: [
      { publishes: { rds: [{ is: "r@p1", when: env("prod") }, { is: "r@t1", when: env("test") }, "plain@1"] } },
      {
        receives: { locators: ["r {env=prod}", "r {env=test}", "plain {env=prod}"] },
        sends: [{ resources: [`r@p1 ${prod}`, `r@t1 ${test}`, "plain@1"] }],
      },
      { receives: { ack: true } },
      {
        publishes: { rds: [{ is: "-r", when: env("prod") }, "-plain"] },
        sends: [{ removed: [`r ${prod}`, "plain"] }],
      },
    ],
  },
  {
    id: "S-LOC-07",
    says: "replaces a variant by others in one response",
    variant: "delta",
    type: "rds",
    steps: [
      { publishes: { rds: [{ is: "r@e1", when: hasEnv }] } },
      {
        receives: { locators: ["r {env=prod}", "r {env=test}"] },
        sends: [{ resources: ["r@e1 [env exists]"] }],
      },
      { receives: { ack: true } },
      {
        publishes: {
          rds: [
            { is: "-r", when: hasEnv },
            { is: "r@p1", when: env("prod") },
            { is: "r@t1", when: env("test") },
          ],
        },
        sends: [{ resources: [`r@p1 ${prod}`, `r@t1 ${test}`], removed: ["r [env exists]"] }],
      },
    ],
  },
  {
    id: "S-LOC-07/clusters",
    also: ["S-ORD-05"],
    says: "replaces a variant of a cluster at once, though clusters are removed last",
    variant: "delta",
    type: "cds",
    streams: ["ads"],
    steps: [
      { publishes: { cds: [{ is: "c@e1", when: hasEnv }], rds: [{ is: "r@1", cluster: "c" }] } },
      { receives: { locators: ["c {env=prod}"] }, sends: [{ resources: ["c@e1 [env exists]"] }] },
      { receives: { ack: true } },
      { receives: { type: "rds", subscribe: ["r"] }, sends: [{ type: "rds", resources: ["r@1"] }] },
      { receives: { type: "rds", ack: true } },
      {
        publishes: {
          cds: [
            { is: "-c", when: hasEnv },
            { is: "c@p1", when: env("prod") },
          ],
          rds: [{ is: "r@2", cluster: "c" }],
        },
        sends: [
          { resources: [`c@p1 ${prod}`], removed: ["c [env exists]"] },
          { type: "rds", resources: ["r@2"] },
        ],
      },
    ],
  },
  {
    id: "S-LOC-08",
    says: "says of a name no variant of which fits that it does not exist for these parameters",
    variant: "delta",
    type: "rds",
    steps: [
      { publishes: { rds: [{ is: "r@p1", when: env("prod") }] } },
      {
        receives: { locators: ["r {env=test}", "r {}", "ghost {env=test}"], subscribe: ["r"] },
        sends: [{ removed: [`r ${test}`, "r", `ghost ${test}`] }],
      },
      { receives: { ack: true } },
      { publishes: { rds: [{ is: "r@t1", when: env("test") }] }, sends: [{ resources: [`r@t1 ${test}`] }] },
    ],
  },
  {
    id: "B-LOC-09",
    says: "takes one name with other parameters for another subscription, given up by itself",
    variant: "delta",
    type: "rds",
    steps: [
      {
        publishes: {
          rds: [
            { is: "r@p1", when: env("prod") },
            { is: "r@t1", when: env("test") },
          ],
        },
      },
      { receives: { locators: ["r {env=prod}"] }, sends: [{ resources: [`r@p1 ${prod}`] }] },
      { receives: { ack: true } },
      { receives: { locators: ["r {env=test}"] }, sends: [{ resources: [`r@t1 ${test}`] }] },
      { receives: { ack: true } },
      { receives: { unsubscribeLocators: ["r {env=prod}"] } },
      {
        publishes: {
          rds: [
            { is: "r@p2", when: env("prod") },
            { is: "r@t2", when: env("test") },
          ],
        },
        sends: [{ resources: [`r@t2 ${test}`] }],
      },
    ],
  },
  {
    id: "B-LOC-09",
    says: "takes one name with other parameters for another subscription, given up by itself",
    variant: "sotw",
    type: "rds",
    steps: [
      {
        publishes: {
          rds: [
            { is: "r@p1", when: env("prod") },
            { is: "r@t1", when: env("test") },
          ],
        },
      },
      {
        receives: { names: [], locators: ["r {env=prod}", "r {env=test}"] },
        sends: [{ resources: [`r@p1 ${prod}`, `r@t1 ${test}`] }],
      },
      { receives: { ack: true } },
      { receives: { names: [], locators: ["r {env=test}"] } },
      {
        publishes: {
          rds: [
            { is: "r@p2", when: env("prod") },
            { is: "r@t2", when: env("test") },
          ],
        },
        sends: [{ resources: [`r@t2 ${test}`] }],
      },
    ],
  },
  {
    id: "B-LOC-09/again",
    also: ["S-REC-09"],
    says: "tells a client that comes back what it lacks of each variant, as its version says which it holds",
    variant: "delta",
    type: "rds",
    steps: [
      {
        publishes: {
          rds: [
            { is: "r@p1", when: env("prod") },
            { is: "r@t1", when: env("test") },
          ],
        },
      },
      {
        receives: { locators: ["r {env=prod}", "r {env=test}"] },
        sends: [{ resources: [`r@p1 ${prod}`, `r@t1 ${test}`] }],
      },
      { receives: { ack: true } },
      { breaks: "c1" },
      {
        receives: { locators: ["r {env=prod}", "r {env=test}"], initial: ["r@p1"] },
        on: "again",
        sends: [{ on: "again", resources: [`r@t1 ${test}`] }],
      },
      { receives: { ack: true }, on: "again" },
      { breaks: "c1" },
      { publishes: { rds: [{ is: "-r", when: env("prod") }] } },
      {
        receives: { locators: ["r {env=prod}", "r {env=test}"], initial: ["r@t1"] },
        on: "third",
        sends: [{ on: "third", removed: [`r ${prod}`] }],
      },
    ],
  },
  {
    id: "B-LOC-11",
    says: "takes a plain name for one without parameters, whichever way it is given up",
    variant: "delta",
    type: "rds",
    steps: [
      { publishes: { rds: [{ is: "r@1", when: not(hasEnv) }, "plain@1"] } },
      {
        receives: { locators: ["r {}"], subscribe: ["plain"] },
        sends: [{ resources: ["r@1 [not (env exists)]", "plain@1"] }],
      },
      { receives: { ack: true } },
      { receives: { unsubscribe: ["r"], unsubscribeLocators: ["plain {}"] } },
      { publishes: { rds: [{ is: "r@2", when: not(hasEnv) }, "plain@2"] } },
      { receives: { subscribe: ["r"] }, sends: [{ resources: ["r@2 [not (env exists)]"] }] },
    ],
  },
  {
    id: "S-LOC-03/layers",
    says: "takes all variants of a name from the top-most layer that has any",
    variant: "delta",
    type: "rds",
    setup: { nodeMapping: { n1: ["node/n1", "base"] } },
    steps: [
      {
        publishes: {
          rds: [
            { is: "r@p1", when: env("prod") },
            { is: "r@t1", when: env("test") },
          ],
        },
      },
      {
        receives: { locators: ["r {env=prod}", "r {env=test}"] },
        sends: [{ resources: [`r@p1 ${prod}`, `r@t1 ${test}`] }],
      },
      { receives: { ack: true } },
      {
        publishes: { layer: "node/n1", rds: [{ is: "r@own1", when: env("prod") }] },
        sends: [{ resources: [`r@own1 ${prod}`], removed: [`r ${test}`] }],
      },
      { receives: { ack: true } },
      {
        publishes: { layer: "node/n1", rds: [{ is: "-r", when: env("prod") }] },
        sends: [{ resources: [`r@p1 ${prod}`, `r@t1 ${test}`] }],
      },
    ],
  },
];
