import { expect, it } from 'vitest';
import { showDiff } from '../../../../src/outputs/html/diff.js';

it('EV-10 the name of a file shows no characters that reorder or control text, though git quotes them in the patch', () => {
  const name = String.raw`src/\342\200\256gpj\033[31m.txt`;
  const patch = `diff --git "a/${name}" "b/${name}"\n--- "a/${name}"\n+++ "b/${name}"\n@@ -1,1 +1,1 @@\n-a\n+b\n`;
  const shown = String(showDiff(patch, 9));
  expect(shown).toContain('src/gpj.txt');
  for (const hidden of ['\u202e', '\u001b']) expect(shown).not.toContain(hidden);
});
