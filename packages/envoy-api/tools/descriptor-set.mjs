// Takes files out of an encoded FileDescriptorSet: each file is field 1, a message, whose field 1 is its name.

/** The names of the files in a set. */
export function fileNamesIn(set) {
  return new Set(filesIn(set).map(({ name }) => name));
}

/** The set without the files of these names. */
export function withoutFiles(set, names) {
  const kept = filesIn(set).filter(({ name }) => !names.has(name));
  return Buffer.concat(kept.map(({ bytes }) => bytes));
}

function filesIn(set) {
  const files = [];
  let position = 0;
  while (position < set.length) {
    const start = position;
    if (set[position] !== 0x0a) throw new Error("expected field 1 of a FileDescriptorSet");
    const body = readLength(set, position + 1);
    const name = set[body.start] === 0x0a ? readLength(set, body.start + 1) : undefined;
    position = body.end;
    files.push({
      name: name === undefined ? "" : set.toString("utf8", name.start, name.end),
      bytes: set.subarray(start, position),
    });
  }
  return files;
}

/** Where the bytes behind a length begin and end. */
function readLength(set, at) {
  let length = 0;
  let shift = 0;
  let position = at;
  let byte;
  do {
    byte = set[position++];
    length += (byte & 0x7f) * 2 ** shift;
    shift += 7;
  } while (byte >= 0x80);
  return { start: position, end: position + length };
}
