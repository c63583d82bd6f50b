import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { keepComparison } from '../../../src/evidence/page-sources.js';
import { tempDir } from '../../rig/temp-dir.js';

it('EV-2 the pictures of a failed screenshot comparison are kept by what they show', async () => {
  const [from, folder] = [tempDir(), tempDir()];
  const attachments = ['cart-expected.png', 'cart-actual.png', 'cart-diff.png', 'other.png'].map((name) => {
    const file = path.join(from, name);
    writeFileSync(file, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0]));
    return { name, contentType: 'image/png', path: file };
  });
  await keepComparison(attachments, folder);
  expect(readdirSync(folder).toSorted()).toEqual(['actual.png', 'difference.png', 'expected.png']);
  const none = tempDir();
  await keepComparison([{ name: 'trace', contentType: 'application/zip', path: '/nowhere' }], none);
  expect(existsSync(path.join(none, 'expected.png'))).toBe(false);
});
