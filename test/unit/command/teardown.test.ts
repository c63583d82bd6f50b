import { expect, it } from 'vitest';
import { type Ending, Teardown } from '../../../src/command/teardown.js';

const healed: Ending = { kind: 'healed', healed: { suiteRed: false, paused: false } };

it('HN-1 closes everything that a run has opened once, newest first', async () => {
  const closed: string[] = [];
  const teardown = new Teardown();
  for (const name of ['folder', 'bus', 'workspace']) teardown.add(() => void closed.push(name));
  expect(await teardown.run(healed)).toBe(healed);
  await teardown.run(healed);
  expect(closed).toEqual(['workspace', 'bus', 'folder']);
});

it('HN-1 a failing step does not stop others from closing, and its error ends the run', async () => {
  const seen: Ending[] = [];
  const error = new Error('the disk is full');
  const teardown = new Teardown();
  teardown.add((ending) => void seen.push(ending));
  teardown.add(() => Promise.reject(new Error('a later one')));
  teardown.add(() => Promise.reject(error));
  expect(await teardown.run(healed)).toEqual({ kind: 'error', error });
  expect(seen).toEqual([{ kind: 'error', error }]);
});
