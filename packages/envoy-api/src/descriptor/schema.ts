import { createFileRegistry, type DescMessage, type FileRegistry, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { nearestName } from "@xdskit/protocol/internal";
import { hasDescriptors } from "../platform.ts";
import { decodeBuiltIn, unpackBuiltIn, wellKnownFiles } from "./built-in.ts";
import { DescriptorError } from "./descriptor-error.ts";
import { LinkingRegistry } from "./linking-registry.ts";
import { mergeDescriptors } from "./merge-descriptors.ts";
import { type MessageShape, shapeOfMessage } from "./message-shape.ts";
import { type PackedFile, unpackFiles } from "./packed-file.ts";
import { readTwinNames, type TwinNames } from "./twin-names.ts";

const MOST_REMEMBERED = 1000;

/** All known messages, with their shapes. */
export class Schema {
  readonly registry: FileRegistry;
  readonly #filesOfV3: () => readonly PackedFile[];
  #twins: TwinNames | undefined;
  readonly #shapes = new Map<DescMessage, MessageShape>();
  readonly #nearest = new Map<string, string | undefined>();
  #names: readonly string[] | undefined;

  /** `filesOfV3`: at least those of v3, for the names of twins. */
  constructor(registry: FileRegistry, filesOfV3: () => readonly PackedFile[]) {
    this.registry = registry;
    this.#filesOfV3 = filesOfV3;
  }

  /** Returns the message of a type URL with any host, or of a full name. */
  message(typeUrlOrName: string): DescMessage | undefined {
    return this.registry.getMessage(typeUrlOrName.slice(typeUrlOrName.lastIndexOf("/") + 1));
  }

  /** The messages with twins in the other API version. Read on first use. */
  get twins(): TwinNames {
    this.#twins ??= readTwinNames(this.#filesOfV3());
    return this.#twins;
  }

  shapeOf(message: DescMessage): MessageShape {
    let shape = this.#shapes.get(message);
    if (shape === undefined) {
      const nameInV3 = mayBeOfV2(message.typeName) ? this.twins.in("v3", message.typeName) : undefined;
      const inV3 = nameInV3 === undefined ? undefined : this.message(nameInV3);
      shape = shapeOfMessage(message, this.registry, inV3 && this.shapeOf(inV3));
      this.#shapes.set(message, shape);
    }
    return shape;
  }

  /** Returns the message whose name is closest to an unknown name, if close enough to be meant. */
  nearestMessage(name: string): string | undefined {
    const known = this.#nearest.get(name);
    if (known !== undefined || this.#nearest.has(name)) return known;
    this.#names ??= [...this.registry].filter((type) => type.kind === "message").map((type) => type.typeName);
    const nearest = (name.includes(".") ? undefined : inFull(name, this.#names)) ?? nearestName(name, this.#names);
    // A search takes milliseconds, and mistakes repeat. The cache is bounded.
    if (this.#nearest.size < MOST_REMEMBERED) this.#nearest.set(name, nearest);
    return nearest;
  }
}

/**
 * Reads the built-in descriptors and adds the operator's. Without added ones, each file is decoded and linked on first
 * use, and the v2 files are read when one of them is first requested. With added ones, which may replace built-in
 * files, all are linked at once, so that conflicts are reported at once.
 *
 * @throws {DescriptorError} if the descriptors cannot be used
 */
export function createSchema(added: readonly Uint8Array[] = []): Schema {
  if (added.length === 0) {
    if (!hasDescriptors)
      throw new DescriptorError("expected descriptors, got none: in a browser they are not built in, but given");
    const ofV2 = { mayDeclare: mayBeOfV2, read: () => unpackBuiltIn("v2") };
    const ofV3 = unpackBuiltIn("v3");
    return new Schema(new LinkingRegistry(ofV3, wellKnownFiles, ofV2), () => ofV3);
  }
  const set = mergeDescriptors(decodeBuiltIn(), added);
  try {
    return new Schema(createFileRegistry(set), () => unpackFiles(toBinary(FileDescriptorSetSchema, set)));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    // The built-in files fit each other, so the fault is in an added set; the linker does not say which.
    throw new DescriptorError(
      `expected descriptors that fit the built-in ones: ${reason}`,
      added.length === 1 ? 0 : undefined,
      {
        cause,
      },
    );
  }
}

/** Any Envoy message outside v3 may be in v2. */
function mayBeOfV2(name: string): boolean {
  return /^(envoy|opencensus|gogoproto)\./.test(name) && !/\.v3(alpha)?\./.test(name);
}

/** The full name of a message that is called by its last part; of several, the shortest of v3: that is the resource. */
function inFull(name: string, names: readonly string[]): string | undefined {
  const found = names.filter((one) => one.endsWith(`.v3.${name}`));
  return found.toSorted((a, b) => a.length - b.length)[0];
}
