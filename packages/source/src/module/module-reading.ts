import { basename, dirname, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { formatPath } from "@xdskit/protocol/internal";
import { KnownResources } from "../candidate-reader.ts";
import { problem } from "../directory/file-system-problem.ts";
import { FollowedSettings } from "../directory/followed-settings.ts";
import type { PlacedText } from "../document/placed-text.ts";
import { decodeDocuments } from "../document-decoding.ts";
import type { CrossProblem, LayerFile, Origin } from "../file-content.ts";
import { settingsFile } from "../layout.ts";
import { LoadAssembly } from "../load-assembly.ts";
import type { Load } from "../loaded-state.ts";
import { optionalHint, type Problem, type SourceProblemCode } from "../problem.ts";
import type { ValidationLevel } from "../read-resource.ts";
import type { SettingsContent } from "../settings/settings-file.ts";
import { placeOf } from "./failure-place.ts";
import { layersIn } from "./layers.ts";
import type { ModuleFailure } from "./messages.ts";
import { type ModuleRun, runModule } from "./run-module.ts";

/** The options that override the settings beside the module. */
export interface ModuleReadingOptions {
  /** Absolute path of the module. */
  readonly module: string;
  readonly api: EnvoyApi;
  readonly validation: ValidationLevel | undefined;
  readonly maxBytes: number | undefined;
  readonly allowEmpty: boolean | undefined;
  readonly findsVersionLoss: boolean;
  readonly timeoutMs: number;
  readonly onOutput: (text: string) => void;
}

/** Values have no lines: problems name paths only. */
const withoutLines: PlacedText = {
  show: () => ({}),
  showText: ({ path }) => ({ path }),
};

interface KnownLayer {
  readonly json: string;
  readonly file: LayerFile;
  readonly known: KnownResources;
}

/** The state of the last run of a module. */
export class ModuleReading {
  readonly #options: ModuleReadingOptions;
  readonly #directory: string;
  readonly #file: string;
  readonly #assembly: LoadAssembly;
  #layers: ReadonlyMap<string, KnownLayer> = new Map();
  readonly #followed: FollowedSettings;
  #settings: SettingsContent | undefined;
  #files: ReadonlySet<string>;
  #load: Load | undefined;
  #lookedAtMs = 0;

  constructor(options: ModuleReadingOptions) {
    this.#options = options;
    this.#directory = dirname(options.module);
    this.#file = basename(options.module);
    this.#followed = new FollowedSettings(this.#directory);
    this.#files = new Set([options.module]);
    this.#assembly = new LoadAssembly({
      api: options.api,
      allowEmpty: options.allowEmpty,
      place: async (problems) => problems.map((one) => this.#placed(one)),
      nothingFound: problem("SOURCE_EMPTY", this.#file, "expected resources in what the module exports, found none", {
        hint: "export a list of resources, or set allow-empty to serve an empty state",
      }),
      fileOf: () => this.#file,
      addToLayer: (layer) => `export its resources as the layer ${layer}`,
    });
  }

  /** The files that the next load depends on: those of the module graph outside node_modules, and the settings. */
  get files(): ReadonlySet<string> {
    return new Set([...this.#files, `${this.#directory}${sep}${settingsFile}`]);
  }

  /** When the last run began, in milliseconds since the epoch. */
  get lookedAtMs(): number {
    return this.#lookedAtMs;
  }

  /** Runs the module; returns the same load if nothing changed. */
  async look(signal: AbortSignal): Promise<Load> {
    const { module, timeoutMs, onOutput } = this.#options;
    this.#lookedAtMs = Date.now();
    const settings = await this.#followed.settle(signal);
    const run = await runModule(pathToFileURL(module).href, { timeoutMs, signal, onOutput });
    this.#files = new Set([module, ...filesIn(run)]);
    const isSame = isDeepStrictEqual(settings, this.#settings);
    if (!isSame) this.#settings = settings;
    const { outcome } = run;
    if (outcome.kind !== "value") return this.#fail(await this.#problemOf(outcome, run.urls));
    const exported = layersIn(JSON.parse(outcome.json));
    if ("message" in exported) return this.#fail(this.#problem("MODULE_INVALID", exported.message, exported.hint));
    const max = this.#options.maxBytes ?? Number.POSITIVE_INFINITY;
    const bytes = Buffer.byteLength(outcome.json);
    if (bytes > max) {
      const message = `expected at most ${max} bytes of resources, got ${bytes}`;
      return this.#fail(this.#problem("FILE_TOO_LARGE", message, "raise limits.max-file-bytes"));
    }
    const changed = await this.#decode(exported.layers);
    if (this.#load?.state === undefined || changed || !isSame) this.#load = await this.#assemble();
    return this.#load;
  }

  #fail(found: Problem): Load {
    if (this.#load === undefined || !isDeepStrictEqual(this.#load.problems, [found])) {
      this.#load = { state: undefined, problems: [found] };
    }
    return this.#load;
  }

  async #problemOf(
    outcome: Exclude<ModuleRun["outcome"], { kind: "value" }>,
    urls: ReadonlySet<string>,
  ): Promise<Problem> {
    switch (outcome.kind) {
      case "failed":
        return await this.#failure(outcome.failure, urls);
      case "invalid":
        return this.#problem("MODULE_INVALID", outcome.message);
      case "timeout": {
        const message = `expected the module to return its resources within ${this.#options.timeoutMs} ms of its start, it was stopped`;
        return this.#problem(
          "MODULE_TIMEOUT",
          message,
          "its imports count too: look for an endless loop or a slow import, or raise limits.module-timeout; it runs again when one of its files changes, or on SIGHUP",
        );
      }
      case "ended":
        return this.#problem("MODULE_FAILED", `the module returned nothing: ${outcome.message}`);
    }
  }

  async #failure(failure: ModuleFailure, urls: ReadonlySet<string>): Promise<Problem> {
    const at = await placeOf(failure, urls);
    const file = at === undefined ? this.#file : this.#shown(fileURLToPath(at.url));
    const { line, column } = at ?? {};
    return {
      ...problem("MODULE_FAILED", file, failure.message),
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
      ...optionalHint(failure.hint),
    };
  }

  #problem(code: SourceProblemCode, message: string, hint?: string): Problem {
    return { ...problem(code, this.#file, message), ...optionalHint(hint) };
  }

  /** Decodes the layers; returns whether any of them changed. */
  async #decode(layers: ReadonlyMap<string, readonly unknown[]>): Promise<boolean> {
    const { api, findsVersionLoss, validation = this.#validation() } = this.#options;
    const before = this.#layers;
    const now = new Map<string, KnownLayer>();
    for (const [layer, resources] of layers) {
      const json = `${validation} ${JSON.stringify(resources)}`;
      const same = before.get(layer);
      if (same?.json === json) {
        now.set(layer, same);
        continue;
      }
      const known = same?.known ?? new KnownResources();
      const documents = { file: this.#file, documents: [resources], known };
      const read = await decodeDocuments(documents, { api, validation, findsVersionLoss });
      const content = read.placedIn(withoutLines);
      const problems = content.problems.map((one) => ({ ...one, path: `${formatPath([layer])}${one.path ?? ""}` }));
      const { resources: decoded, refused } = content;
      const file = { file: this.#file, layer, content: { resources: decoded, refused, problems } };
      now.set(layer, { json, file, known });
    }
    this.#layers = now;
    return now.size !== before.size || [...now].some(([layer, one]) => before.get(layer) !== one);
  }

  #validation(): ValidationLevel {
    const level = this.#settings?.settings.validation;
    return level === "off" || level === "reject" ? level : "warn";
  }

  async #assemble(): Promise<Load> {
    if (this.#settings === undefined) throw new Error("nothing was read");
    const files = [...this.#layers.values()].map(({ file }) => file);
    const load = await this.#assembly.assemble({ chunks: [{ files }], settings: this.#settings, problems: [] });
    return load.state === undefined ? load : { ...load, state: { ...load.state, files: this.#files.size } };
  }

  #placed({ code, severity, message, hint, at, related }: CrossProblem): Problem {
    const other = related === undefined ? {} : { related: { file: related.file.file } };
    return { code, severity, file: at.file.file, ...pathOf(at), message, ...optionalHint(hint), ...other };
  }

  #shown(path: string): string {
    return relative(this.#directory, path).split(sep).join("/");
  }
}

function pathOf({ file, place }: Origin): { readonly path?: string } {
  return place === undefined ? {} : { path: formatPath([file.layer, ...place.path]) };
}

/** Installed packages do not change while the server runs. */
function filesIn({ urls }: ModuleRun): readonly string[] {
  return [...urls].map((url) => fileURLToPath(url)).filter((path) => !path.split(sep).includes("node_modules"));
}
