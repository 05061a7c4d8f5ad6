import fc from "fast-check";
import { expect, test } from "vitest";
import { virtualHostTerms } from "../../resource/virtual-host-name.ts";
import { GroupedTerms } from "./grouped-terms.ts";

const label = fc.constantFrom("a", "b", "ab", "com");
const host = fc.array(label, { minLength: 1, maxLength: 7 }).map((labels) => labels.join("."));
const routes = fc.constantFrom("rc", "other");
const term = fc.tuple(routes, host).map(([rc, name]) => `${rc}/${name}`);
const domain = fc
  .tuple(routes, host, fc.nat(), fc.constantFrom("suffix", "prefix", "star"))
  .map(([rc, name, at, how]) => {
    const cut = at % (name.length + 1);
    if (how === "star") return `${rc}/*`;
    return how === "suffix" ? `${rc}/*${name.slice(cut)}` : `${rc}/${name.slice(0, cut)}*`;
  });

test("S-VHD-03: the terms that a domain answers to are found in its group as they are among all of them", () => {
  fc.assert(
    fc.property(fc.uniqueArray(term, { maxLength: 30 }), fc.array(domain), fc.nat(), (terms, domains, dropped) => {
      const grouped = new GroupedTerms(virtualHostTerms, terms);
      const left = terms.filter((_, i) => i % 3 !== dropped % 3);
      for (const one of terms) if (!left.includes(one)) grouped.delete(one);
      for (const one of domains) {
        const among = left.filter((asked) => virtualHostTerms.matches(one, asked));
        expect([...grouped.matching(one)].sort()).toEqual(among.sort());
      }
    }),
  );
});

test("a term belongs to few groups however long it is, and a host that none can be falls under the star alone", () => {
  const long = `rc/${"a.".repeat(1_000)}com`;
  expect([...virtualHostTerms.groupsOf(long)]).toHaveLength(9);
  expect([...virtualHostTerms.broader(long)]).toEqual(["rc/*"]);
  expect(["rc/*", "rc/*.com", "rc/a.*"].filter((one) => virtualHostTerms.matches(one, long))).toEqual(["rc/*"]);
});
