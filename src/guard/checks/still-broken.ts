import type { Note } from '../../core/guard/note.js';
import type { Change } from '../change.js';
import { blamedWords, changedWords, lineOf, wordsIn } from '../without-blamed.js';

/**
 * Notes that what broke the test is still in place, if a fix of the app alone has none of the names that it introduced (HN-3): the fix may
 * then only hide the fault from the test. A fix that adapts to the breaking change names what that introduced: a column, a package or a
 * variable.
 */
export function nameStillBroken({ request: { broke = [] }, edits, ofApp, ofTests }: Change): Note[] {
  const [first] = broke;
  if (!first || !blamedWords(broke) || ofApp.length === 0 || ofTests.length > 0) return [];
  const lines = broke.map((hunk) => {
    const edit = edits.find(({ path }) => path === hunk.file);
    return edit ? lineOf(hunk, edit.after?.text ?? '') : hunk.line;
  });
  const textOf = (side: 'before' | 'after') => ofApp.map((one) => one[side]?.text ?? '').join('\n');
  const changed = changedWords(textOf('before'), textOf('after'));
  const [olds, news] = [broke.flatMap(({ old }) => old), broke.flatMap(({ now }) => now)].map(wordsIn);
  const isAdapted = [...(news ?? [])].some((word) => !olds?.has(word) && changed.has(word));
  if (lines.includes(null) || isAdapted) return [];
  const says = 'the change that broke the test is still there, and the fix has no name that it introduced';
  return [{ file: first.file, line: lines[0] ?? null, says }];
}
