import { existsSync, readFileSync, statSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { openInBrowser } from '../../../src/outputs/open-in-browser.js';

const opened = vi.hoisted((): string[] => []);
vi.mock('open', () => ({ default: async (target: string) => void opened.push(target) }));

it('RP-5 the program that opens the page does not get its token, which ps would show', async () => {
  const url = 'http://127.0.0.1:4000/?token=aB3-dE_6';
  const file = await openInBrowser(url);
  const [target = ''] = opened;
  expect(target).not.toContain('aB3-dE_6');
  expect(readFileSync(target, 'utf8')).toContain(`url=${url}"`);
  if (process.platform !== 'win32') expect(statSync(target).mode & 0o077).toBe(0);
  await file[Symbol.asyncDispose]();
  expect(existsSync(target)).toBe(false);
});
