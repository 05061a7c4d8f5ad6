import type { Resource, TypeUrl } from "@xdskit/protocol";
import type { LayerState } from "@xdskit/protocol/internal";
import type { ResourceTypes } from "./admin/view.ts";
import { type CertificateDates, type CertificateEnd, endOfCas, endOfChain } from "./observe/certificate-end.ts";
import type { TlsFiles } from "./options.ts";
import { TimedSlices } from "./timed-slices.ts";
import { type InForceCertificates, readCertificates } from "./transport/grpc/tls.ts";

/** Which listener certificates are of. */
type ListenerSettings = "tls" | "admin-tls";

export interface ServedCertificatesOptions {
  readonly types: Pick<ResourceTypes, "types" | "toJson">;
  readonly layers: () => Iterable<LayerState>;
  readonly resources: (layers: readonly string[], type: TypeUrl) => Iterable<Resource>;
  /** What the listeners of this process have in force. */
  readonly own: () => readonly { readonly prefix: ListenerSettings; readonly inForce: InForceCertificates }[];
  /** What the listeners of workers read. */
  readonly ofWorkers: readonly TlsFiles[];
}

/** When the certificates end that the server has, and that it serves in Secrets. Looks only when it is asked. */
export class ServedCertificates {
  readonly #options: ServedCertificatesOptions;
  readonly #types: readonly TypeUrl[];
  readonly #known = new WeakMap<Resource, CertificateDates | "none">();
  #reading: Promise<readonly CertificateEnd[]> | undefined;

  constructor(options: ServedCertificatesOptions) {
    this.#options = options;
    this.#types = options.types.types.filter(({ kind }) => kind === "sds").map(({ type }) => type);
  }

  /** Those that end first are first. */
  async read(): Promise<readonly CertificateEnd[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return await this.#reading;
  }

  async #read(): Promise<readonly CertificateEnd[]> {
    const own = this.#options.own().flatMap(({ prefix, inForce }) => endsOf(prefix, inForce));
    const read = await Promise.all(this.#options.ofWorkers.map(readCertificates));
    const ofWorkers = read.flatMap((inForce) => (inForce === undefined ? [] : endsOf("tls", inForce)));
    return [...own, ...ofWorkers, ...(await this.#secrets())].toSorted((a, b) => a.validToMs - b.validToMs);
  }

  async #secrets(): Promise<readonly CertificateEnd[]> {
    const slices = new TimedSlices();
    const ends: CertificateEnd[] = [];
    for (const { name: layer, types } of this.#options.layers()) {
      for (const type of this.#types) {
        if (!types.has(type)) continue;
        for (const resource of this.#options.resources([layer], type)) {
          const dates = this.#datesOf(resource);
          const { name } = resource.variant ?? resource;
          if (dates !== undefined) ends.push({ use: "secret", secret: { layer, type, name }, ...dates });
          if (slices.isOver) await slices.next();
        }
      }
    }
    return ends;
  }

  #datesOf(resource: Resource): CertificateDates | undefined {
    let dates = this.#known.get(resource);
    if (dates === undefined) {
      dates = this.#find(resource) ?? "none";
      this.#known.set(resource, dates);
    }
    return dates === "none" ? undefined : dates;
  }

  #find({ type, bytes, error }: Resource): CertificateDates | undefined {
    if (error !== undefined) return undefined;
    try {
      const secret = this.#options.types.toJson(type, bytes, { redact: true }) as SecretJson;
      const { tlsCertificate, validationContext } = secret;
      return endOfChain(textOf(tlsCertificate?.certificateChain)) ?? endOfCas(textOf(validationContext?.trustedCa));
    } catch {
      // Malformed bytes are a problem of their own.
      return undefined;
    }
  }
}

/** What is read of a Secret. */
interface SecretJson {
  readonly tlsCertificate?: { readonly certificateChain?: DataSourceJson };
  readonly validationContext?: { readonly trustedCa?: DataSourceJson };
}

interface DataSourceJson {
  readonly inlineBytes?: string;
  readonly inlineString?: string;
}

/** Of a file, which only the client reads, nothing is known. */
function textOf({ inlineBytes, inlineString }: DataSourceJson = {}): string {
  return inlineString ?? Buffer.from(inlineBytes ?? "", "base64").toString("latin1");
}

function endsOf(prefix: ListenerSettings, { cert, ca }: InForceCertificates): readonly CertificateEnd[] {
  const ends: readonly (readonly [CertificateEnd["use"], string | undefined, CertificateDates | undefined])[] = [
    [`${prefix}.cert`, cert.file, endOfChain(cert.pem)],
    [`${prefix}.ca`, ca?.file, ca && endOfCas(ca.pem)],
  ];
  return ends.flatMap(([use, file, dates]) => (dates === undefined ? [] : [{ use, ...(file && { file }), ...dates }]));
}
