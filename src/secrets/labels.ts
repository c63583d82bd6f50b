import type { Label } from './redact.js';
import { isRandom } from './secret-value.js';

/** A flood of secrets is told apart no further than this. */
const mostLabels = 10_000;
/** A secret as long as this is masked from now on wherever it stands, also where nothing says what it is. */
const longEnough = 16;

/**
 * Numbers the secrets of a kind as they come, so that a reader sees which masks hide the same one: `token`, `token 2`. What was
 * found once is told to `remember`, with what its mask says.
 */
export function createLabels(remember: (value: string, label: string) => void): Label {
  const labels = new Map<string, string>();
  const counts = new Map<string, number>();
  return ({ kind, value, label: given }) => {
    if (given !== undefined) return given;
    const known = labels.get(value);
    if (known !== undefined) return known;
    if (labels.size >= mostLabels) return kind;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const label = count === 1 ? kind : `${kind} ${count}`;
    labels.set(value, label);
    if (value.length >= longEnough && isRandom(value.replaceAll(/\s/g, ''))) remember(value, label);
    return label;
  };
}
