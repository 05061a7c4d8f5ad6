import { ITEMS_A_STEP, type Steps } from "../state/steps.ts";

const kinds = ["revision", "live", "held", "emptied", "approved", "rejected", "withdrawn", "rolled-back", "unpinned"];

/** The fields that are looked at, whatever is in them. */
interface Fields {
  readonly kind?: unknown;
  readonly number?: unknown;
  readonly time?: unknown;
  readonly of?: unknown;
  readonly to?: unknown;
  readonly changes?: unknown;
  readonly pins?: unknown;
  readonly trips?: unknown;
  readonly placement?: unknown;
  readonly origin?: unknown;
  readonly groups?: unknown;
  readonly clients?: unknown;
  readonly writer?: unknown;
  readonly layer?: unknown;
  readonly type?: unknown;
  readonly name?: unknown;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly version?: unknown;
  readonly body?: unknown;
  readonly size?: unknown;
}

/**
 * What is wrong with the form of a record that may come from another version of this program; undefined: it is a
 * `LedgerRecord`. What only people read (author, message, origin) may be of any form.
 */
export function* shapeProblem(record: unknown): Steps<string | undefined> {
  if (!isFields(record)) return "it is not an object";
  const { kind, number, time } = record;
  if (typeof kind !== "string" || !kinds.includes(kind)) return `its kind ${shown(kind)} is not known`;
  if (!Number.isSafeInteger(number)) return `its number is ${shown(number)}`;
  if (typeof time !== "number" || !Number.isFinite(time)) return `its time is ${shown(time)}`;
  if (kind === "approved" || kind === "rejected" || kind === "withdrawn") return numberProblem(record, "of");
  if (kind === "unpinned") return yield* listProblem(record, "pins", isPin);
  return (
    (yield* listProblem(record, "changes", isChange)) ??
    placementProblem(record.placement) ??
    (kind === "held" ? yield* listProblem(record, "trips", isFields) : undefined) ??
    (kind === "rolled-back"
      ? (numberProblem(record, "to") ?? (yield* listProblem(record, "pins", isPin)))
      : writerProblem(record.origin))
  );
}

function numberProblem(record: Fields, field: "of" | "to"): string | undefined {
  return Number.isSafeInteger(record[field]) ? undefined : `its ${field} is ${shown(record[field])}`;
}

function* listProblem(
  record: Fields,
  field: "changes" | "pins" | "trips",
  isItem: (item: unknown) => boolean,
): Steps<string | undefined> {
  let taken = 0;
  const list: unknown = record[field];
  if (!Array.isArray(list)) return `its ${field} are ${shown(list)}`;
  for (const [at, item] of list.entries()) {
    if (!isItem(item)) return `its ${field}[${at}] is malformed`;
    if (++taken % ITEMS_A_STEP === 0) yield ITEMS_A_STEP;
  }
  return undefined;
}

function placementProblem(placement: unknown): string | undefined {
  if (placement === undefined) return undefined;
  const isPlacement = isFields(placement) && Array.isArray(placement.groups) && Array.isArray(placement.clients);
  return isPlacement ? undefined : "its placement is malformed";
}

function writerProblem(origin: unknown): string | undefined {
  return isFields(origin) && typeof origin.writer === "string" ? undefined : "its origin is malformed";
}

function isChange(change: unknown): boolean {
  return isPlace(change) && isEntry(change.before) && isEntry(change.after);
}

function isPin(pin: unknown): boolean {
  return isPlace(pin) && (pin.version === undefined || typeof pin.version === "string");
}

function isPlace(place: unknown): place is Fields {
  return (
    isFields(place) &&
    typeof place.layer === "string" &&
    typeof place.type === "string" &&
    typeof place.name === "string"
  );
}

function isEntry(entry: unknown): boolean {
  if (entry === undefined) return true;
  return (
    isFields(entry) &&
    typeof entry.version === "string" &&
    (entry.body === undefined || typeof entry.body === "string") &&
    Number.isFinite(entry.size)
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "missing").slice(0, 100);
}
