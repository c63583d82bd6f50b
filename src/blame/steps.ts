import type { BlamedCommit } from '../core/blame.js';
import { gitBytes } from '../git.js';

/** One commit, with the blob of each changed file; null if the file was deleted. */
export interface Step {
  readonly commit: BlamedCommit;
  /** As in `History`. */
  readonly parents: readonly number[];
  /** Only files that differ from the first parent. */
  readonly blobs: ReadonlyMap<string, string | null>;
}

/** Returns all commits, including those that came by a merge: what CI systems check out for a pull request is a merge commit. */
export async function stepsOf(root: string, base: string): Promise<Step[]> {
  const format = '--format=%x01%H%x02%P%x02%an%x02%aI%x02%s';
  const order = ['--topo-order', '--reverse', '--diff-merges=first-parent'];
  const how = [...order, '--raw', '--no-abbrev', '--no-renames', '-z', '--no-ext-diff', format];
  const text = await gitBytes(root, ['log', ...how, `${base}..HEAD`]);
  const known = new Map<string, number>();
  return String(text)
    .split('\u0001')
    .slice(1)
    .map((one, at) => {
      const step = stepOf(one, known);
      known.set(step.commit.id, at);
      return step;
    });
}

/** Parses `id STX parents STX author STX date STX subject NUL`, then `:mode mode blob blob status NUL path NUL` for each file. */
function stepOf(text: string, known: ReadonlyMap<string, number>): Step {
  const [head = '', ...fields] = text.split('\0');
  const [headLine = '', firstRaw = ''] = head.split('\n');
  const [id = '', above = '', author = '', date = '', subject = ''] = headLine.split('\u0002');
  const raw = [firstRaw, ...fields].map((one) => one.trim()).filter((one) => one !== '');
  const blobs = new Map<string, string | null>();
  for (const [at, one] of raw.entries()) {
    const [, blob, status] = /^:\d{6} \d{6} [\da-f]+ ([\da-f]+) ([A-Z])/.exec(one) ?? [];
    const file = raw[at + 1];
    if (blob && file !== undefined) blobs.set(file, status === 'D' ? null : blob);
  }
  const parents = above.split(' ').map((one) => known.get(one) ?? -1);
  return { commit: { id, author, date, subject }, parents, blobs };
}
