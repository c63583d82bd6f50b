import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderDiagnostics } from '../../../src/config/diagnostic.js';
import { parseAgentsFile } from '../../../src/config/agents-file.js';

describe('CF-3 parsing any text', () => {
  const valid = readFileSync(new URL('../../../agents.yaml', import.meta.url), 'utf8');
  const words = '&a *a <<: { } [ ] " \' ${ !x % --- __proto__: null ~ .nan *debugger #'.split(' ');
  const pieces = [...words, '\t', '\n', '\r', '- ', '? ', ': ', '|\n', '---\n', '\0', '漢', '\uD800'];

  function holds(text: string): void {
    const parsed = parseAgentsFile(text, {});
    if (parsed.ok) return;
    // Rejecting a file without a reason would be worse than accepting it.
    expect(parsed.error.length).toBeGreaterThan(0);
    const shown = renderDiagnostics('agents.yaml', text, parsed.error);
    expect(shown).toMatch(/^agents\.yaml:[1-9]\d*:[1-9]\d* \S/);
    expect(shown).toContain('~');
  }

  it('CF-3 accepts random text or explains what is wrong, and never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), holds), { numRuns: 200 });
    const soup = fc.array(
      fc.oneof(fc.constantFrom(...pieces), fc.constantFrom('a', 'agents', 'routes', 'runner', ' ')),
    );
    fc.assert(
      fc.property(soup, (parts) => holds(parts.join(''))),
      { numRuns: 600 },
    );
  });

  it('CF-3 accepts random edits of a valid file or explains what is wrong, and never throws', () => {
    const change = fc.record({
      at: fc.nat(valid.length),
      remove: fc.nat(12),
      put: fc.constantFrom('', ...pieces),
    });
    const changed = fc
      .array(change, { minLength: 1, maxLength: 4 })
      .map((changes) =>
        changes.reduce(
          (text, { at, remove, put }) => text.slice(0, at) + put + text.slice(at + remove),
          valid,
        ),
      );
    fc.assert(fc.property(changed, holds), { numRuns: 200 });
  });
});
