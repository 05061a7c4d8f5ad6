import type {
  AccessRules,
  ClientRule,
  Commit,
  Edition,
  EnvoyApi,
  ManagementServer,
  ManagementServerOptions,
  Node,
  NodeMapping,
  Peer,
  TypeReference,
  TypeUrl,
} from "@xdskit/server";
import { expectTypeOf, test } from "vitest";

test("the types of options and arguments are exported beside what takes them", () => {
  expectTypeOf<NodeMapping>().toEqualTypeOf<NonNullable<ManagementServerOptions["nodeMapping"]>>();
  expectTypeOf<(node: Node, peer: Peer) => readonly string[]>().toExtend<NodeMapping>();
  expectTypeOf<AccessRules>().toExtend<NonNullable<ManagementServerOptions["access"]>>();
  expectTypeOf<readonly ClientRule[]>().toExtend<NonNullable<ManagementServerOptions["clientOverrides"]>>();
  expectTypeOf<Edition>().toEqualTypeOf<NonNullable<ManagementServerOptions["edition"]>>();
  expectTypeOf<EnvoyApi>().toEqualTypeOf<NonNullable<ManagementServerOptions["api"]>>();
  expectTypeOf<Commit>().toEqualTypeOf<Parameters<ManagementServer["commit"]>[0]>();
  expectTypeOf<TypeUrl>().toExtend<TypeReference>();
});
