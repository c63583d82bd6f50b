import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/secrets/redactor.js';
import { tempDir } from '../../rig/temp-dir.js';

const random = ['aB3dE6gH', '9jK2mN5p', 'Q8sT1vW4'].join('');
const password = ['Pl-anted', '77'].join('.');

async function redactorIn(files: Record<string, string>, folder = '.') {
  const root = tempDir();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  return createRedactor({ env: {}, projectRoot: path.join(root, folder) });
}

describe('the .env files of a project', () => {
  it('EV-9 provide the secrets to mask, but not ordinary values', async () => {
    const env = `# shop\nDB_PASSWORD="${password}"\nSIGNING=${random}\nTITLE="A very nice shop"\nPORT=5432\n`;
    const redactor = await redactorIn({ '.env': env });
    expect(redactor.text(`${password}, ${random}, A very nice shop, 5432`)).toBe(
      '[masked: value of DB_PASSWORD], [masked: value of SIGNING], A very nice shop, 5432',
    );
  });

  it.each(['.env.local', '.env.test', '.env.production.local'])('EV-9 are also named %s', async (name) => {
    const redactor = await redactorIn({ [name]: `DB_PASSWORD=${password}` });
    expect(redactor.text(password)).toBe('[masked: value of DB_PASSWORD]');
  });

  it('EV-9 may be at the top of the repository too, but are not read above it', async () => {
    const files = {
      '.env': `OUTSIDE_TOKEN=${random}`,
      'repo/.git/HEAD': '',
      'repo/.env': `DB_PASSWORD=${password}`,
      'repo/apps/web/package.json': '{}',
    };
    const redactor = await redactorIn(files, 'repo/apps/web');
    expect(redactor.text(`${password} ${random}`)).toBe(`[masked: value of DB_PASSWORD] ${random}`);
  });

  it('EV-9 are ignored if they are samples, broken or folders', async () => {
    const redactor = await redactorIn({
      '.env.example': `DB_PASSWORD=${password}`,
      '.env.d/x': 'a folder',
      '.env': '\u0000=\n=== "',
    });
    expect(redactor.text(password)).toBe(password);
  });
});
