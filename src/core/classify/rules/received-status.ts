/** Matches where an assertion says that one of these statuses came: `expected 200 "OK", got 502`, `expected 502 to equal 200`. */
export function receivedStatus(statuses: string): RegExp {
  return new RegExp(
    String.raw`\b(?:got|received|but (?:was|is|found|saw)|actual(?: status)?:?|instead got)(?: (?:an?|HTTP|status|code)){0,3}:? ?[<"'(]?(?:${statuses})\b|\bexpected (${statuses}) to (?:be|equal|eql|deeply equal|strictly equal|===?) (?!\1)\d{3}\b|\bassert (${statuses}) == (?!\2)\d{3}\b`,
    'i',
  );
}
