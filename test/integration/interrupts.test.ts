import { execa } from 'execa';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { compiledSrc } from '../rig/compiled-src.js';

it('HN-1 an error outside the steps of a run interrupts the run, which ends with that error', async () => {
  const program = `
    const { listenForInterrupts } = await import(process.argv[1] + '/process/interrupts.js');
    const { exitOnUncaughtError } = await import(process.argv[1] + '/cli/end-command.js');
    exitOnUncaughtError(() => console.log('ended at once'));
    const interrupts = listenForInterrupts(() => {});
    setImmediate(() => { throw new Error('from a stream'); });
    await interrupts.watchRun('run').catch((error) => console.log(error.message, interrupts.signal.aborted));
    interrupts[Symbol.dispose]();
    setImmediate(() => { throw new Error('after the run'); });`;
  const src = pathToFileURL(path.resolve(compiledSrc())).href;
  const ended = await execa(process.execPath, ['--input-type=module', '-e', program, src], { reject: false });
  expect(ended.stdout, ended.stderr).toBe('from a stream true\nended at once');
});
