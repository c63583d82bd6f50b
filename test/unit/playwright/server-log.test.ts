import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServerLog } from '../../../src/playwright/inject/server-log.js';
import { tempDir } from '../../rig/temp-dir.js';

let atExit: (() => void)[];

beforeEach(() => {
  atExit = [];
  vi.spyOn(process, 'once').mockImplementation((_event, listener: () => void) => {
    atExit.push(listener);
    return process;
  });
});
afterEach(() => vi.restoreAllMocks());

function newLog() {
  const file = path.join(tempDir(), 'server.log');
  return { file, log: new ServerLog(file) };
}

test('EV-7 keeps the last line of a server even without a line break', () => {
  const { file, log } = newLog();
  log.openStream()('ready\npanic: out of mem');
  for (const listener of atExit) listener();
  expect(readFileSync(file, 'utf8')).toMatch(/^\d+ ready\n\d+ panic: out of mem\n$/);
});
