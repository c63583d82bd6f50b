import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openSources } from '../../../src/fixer/project-sources.js';
import { writeInto } from '../../rig/agent-workspace.js';
import { tempDir } from '../../rig/temp-dir.js';

it('BF-1 reads sources once, and again only if they were changed or added', async () => {
  const dir = tempDir();
  writeInto(dir, { 'a.ts': 'one', 'b.ts': 'one', 'node_modules/x/c.ts': 'x', 'picture.png': 'x' });
  const read = openSources(dir);
  const first = (await read()) ?? [];
  expect(first.map(({ file }) => path.relative(dir, file)).toSorted()).toEqual(['a.ts', 'b.ts']);
  writeFileSync(path.join(dir, 'b.ts'), `${readFileSync(path.join(dir, 'b.ts'), 'utf8')} more`);
  writeInto(dir, { 'c.ts': 'new' });
  const second = (await read()) ?? [];
  const byName = new Map(second.map((one) => [path.basename(one.file), one]));
  expect(byName.get('a.ts')).toBe(first.find(({ file }) => file.endsWith('a.ts')));
  expect(byName.get('b.ts')?.text).toBe('one more');
  expect(byName.get('c.ts')?.text).toBe('new');
});
