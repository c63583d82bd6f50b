import fc from 'fast-check';
import { expect, it } from 'vitest';
import { project } from '../../../fixtures/guard/cases.mjs';
import { judged } from './judged.js';

const spec = 'tests/search.spec.ts';
const text = project[spec] ?? '';
const asserting = text.split('\n').flatMap((line, index) => (line.includes('expect(') ? [index] : []));

it('HN-3 judges a spec with any part cut or repeated without crashing', async () => {
  const place = fc.nat(text.length);
  await fc.assert(
    fc.asyncProperty(place, place, place, async (from, to, at) => {
      const part = text.slice(Math.min(from, to), Math.max(from, to));
      const changed = text.slice(0, at) + part + text.slice(at);
      expect(Array.isArray(await judged([[spec, changed]], 'ui-error'))).toBe(true);
      expect(Array.isArray(await judged([[spec, text.replace(part, '')]], 'ui-error'))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

it('HN-3 catches any assertions that are removed or moved behind a condition', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom(...asserting), { minLength: 1 }),
      fc.boolean(),
      async (lines, guarded) => {
        const changed = text
          .split('\n')
          .flatMap((line, index) =>
            lines.includes(index) ? (guarded ? [`  if (page) {${line}}`] : []) : [line],
          );
        const found = await judged([[spec, changed.join('\n')]], 'ui-error');
        expect(found.length).toBeGreaterThanOrEqual(1);
        const places = found.map(({ before }) => before);
        for (const line of lines) expect(places).toContain(text.split('\n')[line]?.trim());
      },
    ),
    { numRuns: 60 },
  );
});
