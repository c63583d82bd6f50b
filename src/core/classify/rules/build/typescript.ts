import { rulesFor } from '../../rule.js';

/** Messages of `tsc`, and of the bundlers that run it. */
export const typescriptRules = rulesFor('build-error', [
  {
    id: 'build/tsc-code',
    pattern: /\berror TS\d{3,5}\b|\bTS[124-9]\d{3,4}\b\)?:/i,
    confidence: 0.97,
  },
  {
    id: 'build/tsc-not-assignable',
    pattern:
      /\bis not assignable to (?:type|parameter of type) |is missing the following properties from type /i,
    confidence: 0.95,
  },
  {
    id: 'build/tsc-unknown-name',
    pattern:
      /Property '[^'\n]{1,100}' does not exist on type|Cannot find name '[^'\n]{1,100}'|has no exported member|or its corresponding type declarations|Could not find a declaration file for module/i,
    confidence: 0.95,
  },
  {
    id: 'build/tsc-strictness',
    pattern:
      /is possibly '(?:null|undefined)'|implicitly has an 'any' type|No overload matches this call|This expression is not callable|Expected \d+(?:-\d+)? arguments, but got \d+/i,
    confidence: 0.92,
  },
  {
    id: 'build/type-check-failed',
    pattern:
      /^\s{0,20}(?:\S{1,200}\s+)?Type error: |Failed to type check|\bFound [1-9]\d{0,5} errors?(?: in |\. Watching|\.$)/m,
    confidence: 0.9,
  },
]);
