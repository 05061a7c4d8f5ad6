import { nearestName } from "@xdskit/protocol/problem";

/** The format of a file's content. */
export type FileFormat = "yaml" | "json" | "proto" | "text";

/** The role of a file in the directory, by its path alone. */
export type FileRole =
  | {
      readonly kind: "resources";
      readonly layer: string;
      readonly format: FileFormat;
      /** On demand: sent only on request by name. */
      readonly isOnDemand?: true;
    }
  | { readonly kind: "settings" }
  | { readonly kind: "ignored" /** The known extension that was probably meant. */; readonly meant?: string }
  | { readonly kind: "misplaced"; readonly why: string; readonly hint: string };

/** The file of settings and group rules, only at the root of the directory. */
export const settingsFile = "xdskit.yaml";

/** The layer that every node sees. */
export const baseLayer = "base";

const FORMATS: Readonly<Record<string, FileFormat>> = {
  ".yaml": "yaml",
  ".yml": "yaml",
  ".json": "json",
  ".pb": "proto",
  ".pb_text": "text",
  ".txtpb": "text",
};

/** A folder of on-demand resources: in no wildcard, sent only on request by name. */
export const onDemandFolder = "on-demand";

/** Other extensions of the text format, which deserve a hint. */
const TEXT_FORMAT_ELSEWHERE: readonly string[] = [".textproto", ".textpb", ".pbtxt", ".pbtext", ".prototxt"];

/**
 * The role of the file at a path (relative, separated by "/"). Extensions are case-insensitive. Hidden files, editors'
 * files and files with other extensions are ignored.
 */
export function roleOf(path: string): FileRole {
  if (path === settingsFile) return { kind: "settings" };
  if (/^xdskit\.(?:ya?ml|json)$/i.test(path)) {
    return { kind: "misplaced", why: `expected settings in ${settingsFile}`, hint: `rename it to ${settingsFile}` };
  }
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  if (isIgnoredName(name)) return { kind: "ignored" };
  const extension = extensionOf(name);
  const format = FORMATS[extension];
  if (format === undefined) return ignoredExtension(extension);
  const layer = layerOf(parts);
  if (typeof layer !== "string") return layer;
  const folders = parts.slice(layer === baseLayer ? 0 : 2, -1);
  return { kind: "resources", layer, format, ...(folders.includes(onDemandFolder) && { isOnDemand: true }) };
}

/** Whether a file or folder is hidden, or a leftover of an editor. */
export function isIgnoredName(name: string): boolean {
  return name.startsWith(".") || /(?:\.swp|\.swo|\.swx|~|\.tmp|\.bak)$/i.test(name) || /^#.*#$/.test(name);
}

/** Whether a change of an ignored name may change other files: Kubernetes updates a volume by renaming `..data`. */
export function isVolumeSwap(name: string): boolean {
  return name.startsWith("..");
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot === -1 ? "" : name.slice(dot).toLowerCase();
}

function ignoredExtension(extension: string): FileRole {
  if (TEXT_FORMAT_ELSEWHERE.includes(extension)) return { kind: "ignored", meant: ".txtpb" };
  // Short extensions resemble everything: .js is not a misspelt .json.
  const meant = extension.length < 4 ? undefined : nearestName(extension, [".yaml", ".json"]);
  return meant === undefined ? { kind: "ignored" } : { kind: "ignored", meant };
}

function layerOf(parts: readonly string[]): string | FileRole {
  const [top, owner] = parts;
  if (top !== "groups" && top !== "nodes") return baseLayer;
  const what = top === "groups" ? "group" : "node";
  if (owner === undefined || parts.length < 3) {
    return {
      kind: "misplaced",
      why: `expected a folder for each ${what} in ${top}/, got a file`,
      hint: `move it to ${top}/<${what === "group" ? "name" : "id"}>/, or out of ${top}/ for every node to see it`,
    };
  }
  const name = decodeName(owner);
  if (name !== undefined) return `${what}/${name}`;
  return {
    kind: "misplaced",
    why: `expected "%" and two hexadecimal digits for each "%" in the folder's name, got "${owner}"`,
    hint: 'write "%25" for "%" and "%2F" for "/"',
  };
}

/** The group or node id of a folder name, in which special characters are percent-encoded. */
function decodeName(folder: string): string | undefined {
  if (!folder.includes("%")) return folder;
  try {
    return decodeURIComponent(folder);
  } catch {
    return undefined; // reported by the caller
  }
}

/** The path of a layer's folder, for messages. */
export function folderOfLayer(layer: string): string {
  const slash = layer.indexOf("/");
  if (slash === -1) return ".";
  const encoded = layer.slice(slash + 1).replace(/[%/\\:*?"<>|]/g, (character) => encodeURIComponent(character));
  return `${layer.slice(0, slash)}s/${encoded.replaceAll("*", "%2A")}`;
}
