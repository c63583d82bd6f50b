import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { receiveEdits, sendEdits, sentEdit } from '../../../src/queue/sent-edits.js';
import { redactorOf } from '../../../src/secrets/redactor.js';
import { contentsOf } from '../../../src/workspace/change.js';
import type { FileEdit } from '../../../src/workspace/file-state.js';
import { tempDir } from '../../rig/temp-dir.js';

/** A checkout with the old contents, and the edits from these to the new ones. */
async function edited(files: readonly (readonly [before: string, after: string])[]) {
  const root = tempDir('sent edits');
  const contents = contentsOf(path.join(root, '.self-heal', 'runs', 'here'));
  const edits: FileEdit[] = [];
  for (const [n, [before, after]] of files.entries()) {
    const file = `src/${n}.ts`;
    await mkdir(path.join(root, 'src'), { recursive: true });
    await writeFile(path.join(root, file), before);
    const state = async (text: string) =>
      ({ kind: 'file', hash: await contents.put(Buffer.from(text)), mode: 0o644 }) as const;
    edits.push({ path: file, before: await state(before), after: await state(after) });
  }
  return { root, contents, edits };
}

const there = (root: string) => contentsOf(path.join(root, '.self-heal', 'runs', 'there'));

it('SC-2 sends and receives the differences of a file byte for byte, whatever its line endings', async () => {
  const lines = fc
    .array(fc.constantFrom('a', 'b', 'ü', '', '\\ No newline', '--- x', '\r', '\0'), { maxLength: 8 })
    .map((words) => words.join('\n'));
  await fc.assert(
    fc.asyncProperty(lines, lines, async (before, after) => {
      const { root, contents, edits } = await edited([[before, after]]);
      const sent = await sendEdits(edits, contents, redactorOf([]));
      const read =
        'edits' in sent ? sent.edits.map((one) => sentEdit.parse(JSON.parse(JSON.stringify(one)))) : [];
      const received = await receiveEdits(read, root, there(root));
      expect(received).toEqual({ edits });
      expect((await there(root).get(edits[0]?.after?.hash ?? '')).toString()).toBe(after);
    }),
    { numRuns: 60 },
  );
});

it('SC-2 EV-9 sends only what differs, and refuses a change that contains a secret', async () => {
  const secret = 'hunter2-hunter2-hunter2';
  const long = Array.from({ length: 40 }, (_, n) => `line ${n}`).join('\n');
  const { contents, edits } = await edited([
    [`${long}\n${secret}`, `changed\n${long}\n${secret}`],
    ['', `key = '${secret}'`],
  ]);
  const redactor = redactorOf([{ name: 'KEY', value: secret }]);
  expect(JSON.stringify(await sendEdits(edits.slice(0, 1), contents, redactor))).not.toContain('hunter2');
  expect(await sendEdits(edits, contents, redactor)).toEqual({ secretIn: 'src/1.ts' });
});

it('SC-2 names a file that differs from the one that was patched, and does not guess', async () => {
  const { root, contents, edits } = await edited([['old\n', 'new\n']]);
  const sent = await sendEdits(edits, contents, redactorOf([]));
  await writeFile(path.join(root, 'src/0.ts'), 'other\n');
  expect(await receiveEdits('edits' in sent ? sent.edits : [], root, there(root))).toEqual({
    strange: 'src/0.ts',
  });
});
