import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PassingEvidence } from '../../../src/evidence/passing-evidence.js';
import { tempDir } from '../../rig/temp-dir.js';

const thrown = (text: string) => ({ time: 0, type: 'pageerror', text, location: '', stack: null });

it('CS-7 marks what passing tests complained of, as often as any of them did', async () => {
  const file = path.join(tempDir('passing'), 'passing.ndjson');
  const noted = [
    { times: 2, complaint: { console: 'TypeError: x at 12:00:01' } },
    {
      times: 1,
      complaint: { method: 'GET', url: 'http://localhost:3000/a?b=1', status: 404, failure: null },
    },
  ];
  await writeFile(file, `${noted.map((line) => JSON.stringify(line)).join('\n')}\nrubbish\n`);
  const passing = new PassingEvidence();
  await passing.read(file);
  await passing.read(`${file}.none`);
  const console = [
    'TypeError: x at 13:11:41',
    'TypeError: y',
    'TypeError: x at 13:11:42',
    'TypeError: x at 13:11:43',
  ];
  const marked = passing.mark({ console: console.map(thrown), network: [] });
  expect(marked.console.map((entry) => 'common' in entry && entry.common === true)).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
