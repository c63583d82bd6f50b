import path from 'node:path';
import { expect, it } from 'vitest';
import { createPropose } from '../../../src/fixer/propose.js';
import {
  aCause,
  aDiagnosed,
  aDiagnosis,
  anError,
  anEvidence,
  aTest,
  aTestFailure,
} from '../../rig/builders.js';
import { gitRepository } from '../../rig/git-repository.js';

it.each([
  ['everywhere if the app has no such id any more', '', "getByTestId('buy')"],
  ['in the failing step alone if the app still has it', 'id("pay");\n', "getByTestId('pay')"],
])('BF-2 renames a test id in the tests %s', async (_, more, inPageObject) => {
  const { dir } = gitRepository(
    {
      'src/a.html': '<b data-testid="pay">',
      'src/b.js': more,
      'tests/a.spec.ts': "import './page';\npage.getByTestId('pay');\n",
      'tests/page.ts': "page.getByTestId('pay');\n",
    },
    { 'src/a.html': '<b data-testid="buy">' },
  );
  const file = path.join(dir, 'tests/a.spec.ts');
  const error = { ...anError('Error: timeout'), location: { file, line: 2, column: 1 } };
  const lead = aDiagnosed({
    failure: aTestFailure({ test: { ...aTest(), location: { file, line: 1, column: 1 } }, errors: [error] }),
    diagnosis: aDiagnosis({ facts: { ...aDiagnosis().facts, locator: "getByTestId('pay')" } }),
    evidence: anEvidence({
      ariaSnapshot: '',
      elements: [{ tag: 'b', text: '', label: '', attributes: { 'data-testid': 'buy' } }],
    }),
  });
  const propose = createPropose({ cwd: dir, root: dir, isTest: (one) => one.startsWith('tests/') });
  const files = (await propose(aCause({ lead })))?.files ?? [];
  const after = new Map(files.map((one) => [path.basename(one.file), one.after]));
  expect(after.get('a.spec.ts')).toBe("import './page';\npage.getByTestId('buy');\n");
  expect(after.get('page.ts') ?? "page.getByTestId('pay');\n").toBe(`page.${inPageObject};\n`);
});
