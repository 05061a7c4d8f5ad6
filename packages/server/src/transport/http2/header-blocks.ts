import { ConnectionError } from "./connection-error.ts";
import { errorCode, flag, frameType, readUint31 } from "./frame.ts";
import type { Frame } from "./frame-reader.ts";
import { MAX_CONTINUATIONS, MAX_HEADER_BLOCK_BYTES } from "./limits.ts";
import { unpaddedEnd, unpaddedStart } from "./payload.ts";

const PRIORITY_BYTES = 5;

/** A header block from all its frames. */
export interface HeaderBlock {
  readonly stream: number;
  /** The client sends nothing after it on its stream. */
  readonly isLast: boolean;
  /** It names its own stream as the one that it depends on. */
  readonly dependsOnItself: boolean;
  /** Valid until the next frame is read. */
  readonly bytes: Uint8Array;
}

type UnfinishedBlock = Omit<HeaderBlock, "bytes"> & { readonly fragments: Uint8Array[]; byteLength: number };

/** Puts header blocks together from HEADERS and CONTINUATION. What is not in order throws a `ConnectionError`. */
export class HeaderBlocks {
  #unfinished: UnfinishedBlock | undefined;

  /** To be called for each frame: none may come within a header block. */
  expectInOrder(type: number): void {
    if (this.#unfinished === undefined || type === frameType.continuation) return;
    throw new ConnectionError(errorCode.protocolError, "a frame within a header block");
  }

  /** Adds HEADERS; returns the block if it is complete. */
  addHeaders(frame: Frame): HeaderBlock | undefined {
    const { stream, flags, bytes } = frame;
    if (stream === 0) throw new ConnectionError(errorCode.protocolError, "HEADERS without a stream");
    const end = unpaddedEnd(frame);
    let start = unpaddedStart(frame);
    let dependsOnItself = false;
    if ((flags & flag.priority) !== 0) {
      dependsOnItself = end - start >= PRIORITY_BYTES && readUint31(bytes, start) === stream;
      start += PRIORITY_BYTES;
    }
    if (start > end) throw new ConnectionError(errorCode.frameSizeError, "HEADERS that are too short");
    const isLast = (flags & flag.endStream) !== 0;
    const fragment = bytes.subarray(start, end);
    if ((flags & flag.endHeaders) !== 0) return { stream, isLast, dependsOnItself, bytes: fragment };
    this.#unfinished = { stream, isLast, dependsOnItself, fragments: [], byteLength: 0 };
    this.#add(this.#unfinished, fragment);
    return undefined;
  }

  /** Adds CONTINUATION; returns the block if it is complete. */
  addContinuation({ stream, flags, bytes, start, end }: Frame): HeaderBlock | undefined {
    const block = this.#unfinished;
    if (block === undefined || block.stream !== stream) {
      throw new ConnectionError(errorCode.protocolError, "CONTINUATION without HEADERS");
    }
    this.#add(block, bytes.subarray(start, end));
    if ((flags & flag.endHeaders) === 0) return undefined;
    this.#unfinished = undefined;
    const { isLast, dependsOnItself, fragments } = block;
    return { stream, isLast, dependsOnItself, bytes: Buffer.concat(fragments) };
  }

  #add(block: UnfinishedBlock, fragment: Uint8Array): void {
    block.byteLength += fragment.byteLength;
    block.fragments.push(Uint8Array.prototype.slice.call(fragment));
    if (block.byteLength > MAX_HEADER_BLOCK_BYTES || block.fragments.length > MAX_CONTINUATIONS) {
      throw new ConnectionError(errorCode.enhanceYourCalm, "headers in too many frames");
    }
  }
}
