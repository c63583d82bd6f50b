import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { followedExpectations } from '../../../src/fixer/followed-expectations.js';
import { aCause, aDiagnosed, anError, aTestFailure } from '../../rig/builders.js';
import { jsonLines } from '../../rig/json-lines.js';
import { tempDir } from '../../rig/temp-dir.js';

/** Returns what a test's second line becomes after it failed with these messages, as Playwright 1.57 prints them; null if nothing is certain. */
async function followed(line: string, ...messages: string[]): Promise<string | null> {
  const file = path.join(tempDir(), 'a.spec.ts');
  writeFileSync(file, `// A test.\n${line}\n`);
  const errors = messages.map((message) => anError(message, { location: { file, line: 2, column: 1 } }));
  const lead = aDiagnosed({ failure: aTestFailure({ errors }) });
  const proposal = await followedExpectations(aCause({ lead }));
  expect(proposal === null || proposal.files.length === 1).toBe(true);
  return proposal?.files[0]?.after.split('\n').slice(1, -1).join('\n') ?? null;
}

const failed = (matcher: string, told: string) =>
  `Error: expect(locator).${matcher}(expected) failed\n\n${told}\n\nCall log:\n  - waiting for getByTestId('b')\n`;
const values = (expected: string, received: string) =>
  `Locator:  getByTestId('b')\nExpected: ${expected}\nReceived: ${received}\nTimeout:  700ms`;

/** A failed assertion, what Playwright told of it, and what becomes of it: null if more than a literal differs. */
interface Failed {
  readonly line: string;
  readonly told: string;
  readonly after: string | null;
}

it.each(jsonLines<Failed>(import.meta.dirname, 'followed-expectations.jsonl'))(
  'BL-6 the tests may follow the page if only a literal differs: $what',
  async ({ line, told, after }) => {
    const matcher = /\.(to\w+)\(/.exec(line)?.[1] ?? '';
    expect(await followed(line, failed(matcher, told))).toBe(after);
  },
);

it('BL-6 the tests do not follow the page if another error, or another page, says something else', async () => {
  const line = "await expect(b).toHaveText('a');";
  const told = failed('toHaveText', values('"a"', '"b"'));
  expect(await followed(line, told, told)).toBe("await expect(b).toHaveText('b');");
  expect(await followed(line, told, 'Error: boom')).toBeNull();
  expect(await followed(line, told, failed('toHaveText', values('"a"', '"c"')))).toBeNull();
});
