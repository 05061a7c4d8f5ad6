import type { Requirement } from "../requirement.ts";

/** RST: REST polling. */
export const restRules: readonly Requirement[] = [
  {
    id: "B-RST-01",
    level: "must",
    scope: "REST",
    says: "A poll is a POST of a whole request in JSON to the path of its type; the answer is a whole response.",
  },
  {
    id: "B-RST-02",
    level: "must",
    scope: "REST",
    says: "What is sent is canonical JSON; what comes may use the names of the proto files as well.",
  },
  {
    id: "C-RST-04",
    level: "must",
    scope: "REST",
    says: "That nothing changed is an answer: everything stays, nobody is told, and the next poll follows.",
  },
  {
    id: "B-RST-05",
    level: "must",
    scope: "REST",
    says: "ADS, delta and types without REST are refused when they are configured.",
  },
  {
    id: "C-RST-06",
    level: "must",
    scope: "REST",
    says: "Of one type there is one poll at a time.",
  },
  {
    id: "B-RST-07",
    level: "must",
    scope: "REST",
    says: "A nonce that a server gives is given back; without one it works too.",
  },
  {
    id: "C-RST-08",
    level: "must",
    scope: "REST",
    says: "Every poll says who the client is, the type, all names and the version accepted last.",
  },
  {
    id: "C-RST-09",
    level: "must",
    scope: "REST",
    says: "The poll after a refused answer says so, once, beside the version before.",
  },
  {
    id: "C-RST-15",
    level: "must",
    scope: "REST",
    says: "The delay between polls has to be configured; a random part of up to as much is added.",
  },
  {
    id: "C-RST-16",
    level: "must",
    scope: "REST",
    says: "A poll that takes longer than a second, or what was set, has failed.",
  },
  {
    id: "C-RST-17",
    level: "must",
    scope: "REST",
    says: "After a failed poll everything stays, and the next one goes to the next server.",
  },
  {
    id: "C-RST-18",
    level: "must",
    scope: "REST",
    says: "An answer that cannot be read is refused; everything stays.",
  },
  {
    id: "C-RST-20",
    level: "should",
    scope: "REST",
    says: "When what is wanted changes while a poll is held, it is given up and another one goes out at once.",
  },
  {
    id: "B-RST-21",
    level: "must",
    scope: "REST",
    says: "Paths contain a colon, as it is or escaped.",
  },
];
