import { expect, it } from 'vitest';
import { pageSnapshotIn } from '../../../src/evidence/page-sources.js';

const instructions = `# Instructions

- Following Playwright test failed.
- Explain why, be concise, respect Playwright best practices.
- Provide a snippet of code with the fix, if possible.

# Test info

- Name: a.spec.ts >> pays
`;
const source = '\n# Test source\n\n```ts\n  1 | # Page snapshot\n```\n';

it.each([
  [
    'of Playwright 1.53 to 1.58',
    '# Page snapshot\n\n```yaml\n- button "Pay"\n```',
    { yaml: '- button "Pay"', ofPage: true },
  ],
  [
    'of Playwright 1.59 and later',
    `${instructions}\n# Error details\n\n\`\`\`\nError: x\n\`\`\`\n\n# Page snapshot\n\n\`\`\`yaml\n- main:\n  - text: a\n\`\`\`\n${source}`,
    { yaml: '- main:\n  - text: a', ofPage: true },
  ],
  [
    'of Playwright 1.59 and later with an element that a matcher examined',
    `${instructions}\n# Error details\n\n\`\`\`\nError: x\n\`\`\`\n\n\`\`\`yaml\n- status: Refused\n\`\`\`\n${source}`,
    { yaml: '- status: Refused', ofPage: false },
  ],
  ['without a snapshot', `${instructions}\n# Error details\n\n\`\`\`\nError: x\n\`\`\`\n${source}`, null],
  ['of another format', 'hello', null],
  ['that is empty', '', null],
])('EV-10 extracts only the snapshot from an error-context %s', (_, markdown, expected) => {
  expect(pageSnapshotIn(markdown)).toEqual(expected);
});
