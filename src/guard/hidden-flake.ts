const hiding: readonly (readonly [RegExp, string])[] = [
  [
    /\bwaitForTimeout\(|(?<!test\.|info\(\)\.)\bset(?:Timeout|Interval)\(|\bsleep\w*\(|\bdelay\w*\(|Atomics\.wait/i,
    'it sleeps',
  ],
  [/\btimeout:|\bsetTimeout\(|\bslow\(|\bsetDefault\w*Timeout\(/, 'it raises a time-out'],
  [/\bretries:|\bretry\b|\btoPass\(/, 'it retries until it passes'],
  [/mode: ["'`]serial|\.serial\b/, 'it runs tests one after the other'],
  [/\.(?:skip|fixme|fail|only)\b/, 'it skips the test'],
  [/\bexpect\.soft\b/, 'it uses soft assertions'],
  [/["'`]networkidle/, 'it waits until the network is idle'],
  [/\bcatch\b/, 'it swallows errors'],
];

/** Explains how a change hides a flake instead of removing it; null if it does not. */
export function explainHiding(before: readonly string[], after: readonly string[]): string | null {
  const count = (steps: readonly string[], what: RegExp) => steps.filter((step) => what.test(step)).length;
  return hiding.find(([what]) => count(after, what) > count(before, what))?.[1] ?? null;
}
