import type { Note } from '../../core/guard/note.js';
import type { Change } from '../change.js';
import { blamedWords, changedWords, lineOf } from '../without-blamed.js';

/**
 * Notes that what broke the test is still in place, if a fix of the app alone changes none of its words (HN-3): the fix may then only hide
 * the fault from the test. A fix that adapts to the breaking change has a word in common with it: the column, the package or the variable
 * that it introduced.
 */
export function nameStillBroken({ request: { broke = [] }, edits, ofApp, ofTests }: Change): Note[] {
  const [first] = broke;
  const words = blamedWords(broke);
  if (!first || !words || ofApp.length === 0 || ofTests.length > 0) return [];
  const lines = broke.map((hunk) => {
    const edit = edits.find(({ path }) => path === hunk.file);
    return edit ? lineOf(hunk, edit.after?.text ?? '') : hunk.line;
  });
  const textOf = (side: 'before' | 'after') => ofApp.map((one) => one[side]?.text ?? '').join('\n');
  const changed = changedWords(textOf('before'), textOf('after'));
  if (lines.includes(null) || [...words].some((word) => changed.has(word))) return [];
  const says = 'the change that broke the test is still there, and the fix has no name in common with it';
  return [{ file: first.file, line: lines[0] ?? null, says }];
}
