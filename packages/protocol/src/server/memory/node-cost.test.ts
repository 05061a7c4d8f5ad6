import { expect, test } from "vitest";
import { anonymousNode, type Node } from "../../node/node.ts";
import { bytesOfNode, createEncodedNode } from "./node-cost.ts";
import { bytesOfValue } from "./value-cost.ts";

/** A node whose metadata is encoded, and how often it was decoded. */
function encoded(id: string): { readonly node: Node; decoded: number } {
  const { metadata: _, ...fields } = { ...anonymousNode, id };
  const made = {
    decoded: 0,
    node: createEncodedNode(fields, {
      byteLength: 1_000,
      decode: () => {
        made.decoded++;
        return { of: id };
      },
    }),
  };
  return made;
}

test("the metadata of a node is decoded when it is read, and again when that of another was read since", () => {
  const [first, second] = [encoded("a"), encoded("b")];
  const counts = () => [first.decoded, second.decoded];
  expect(bytesOfNode(first.node)).toBeGreaterThan(1_000);
  expect(counts()).toEqual([0, 0]);
  expect([first.node.metadata, first.node.metadata, counts()]).toEqual([{ of: "a" }, { of: "a" }, [1, 0]]);
  expect([second.node.metadata, first.node.metadata, counts()]).toEqual([{ of: "b" }, { of: "a" }, [2, 1]]);
  expect({ ...first.node }).toEqual({ ...anonymousNode, id: "a", metadata: { of: "a" } });
});

test("encoded metadata costs its bytes, decoded metadata what it is decoded to", () => {
  const { metadata: _, ...fields } = anonymousNode;
  const decoded = { ...anonymousNode, metadata: { list: Array(1_000).fill({}) } };
  expect([bytesOfNode(encoded("").node), bytesOfNode(decoded)]).toEqual([
    bytesOfValue(fields) + 1_000 + 2_048,
    bytesOfValue(decoded),
  ]);
});
