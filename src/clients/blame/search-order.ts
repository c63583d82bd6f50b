import type { Candidate } from '../../workspace/candidates.js';
import { groupBy } from '../../group-by.js';

/** Candidates in the order in which a search reverts them, and the distance between neighbors. */
interface SearchOrder {
  readonly items: readonly Candidate[];
  readonly distance: (item: Candidate, next: Candidate) => number;
}

const levels = { hunk: 0, file: 1, commit: 2 } as const;

/** Added to the distance after the likeliest commit, file or hunk, so that it is split off first. */
const LIKELIEST = 0.5;

/**
 * Orders candidates for a search that first splits them between commits, then between files, then between hunks. The likeliest commit, file of a
 * commit and hunk of a file come first and are split off first; the others follow, newest first.
 */
export function orderForSearch(
  candidates: readonly Candidate[],
  rank: (candidate: Candidate) => number,
): SearchOrder {
  const commits = moveLikeliestFirst([...groupBy(candidates, ({ step }) => step).values()], rank).map(
    (commit) =>
      moveLikeliestFirst([...groupBy(commit, ({ file }) => file).values()], rank).map((file) =>
        file.toSorted((a, b) => rank(b) - rank(a)),
      ),
  );
  const distances = new Map<Candidate, number>();
  const markDistances = (
    group: readonly Candidate[],
    next: readonly Candidate[] | undefined,
    level: number,
  ) => {
    const end = group.at(-1);
    if (end && next && getHighestRank(group, rank) > getHighestRank(next, rank))
      distances.set(end, level + LIKELIEST);
  };
  const [first, second] = commits;
  if (first) markDistances(first.flat(), second?.flat(), levels.commit);
  for (const files of commits) {
    const [file, other] = files;
    if (file && !distances.has(file.at(-1) as Candidate)) markDistances(file, other, levels.file);
    for (const [hunk, next] of files)
      if (hunk && !distances.has(hunk)) markDistances([hunk], next && [next], levels.hunk);
  }
  return {
    items: commits.flat(2),
    distance: (item, next) => distances.get(item) ?? getDistance(item, next),
  };
}

function getDistance(candidate: Candidate, next: Candidate): number {
  if (candidate.step !== next.step) return levels.commit;
  return candidate.file === next.file ? levels.hunk : levels.file;
}

/** Moves the group with the likeliest candidate to the front, and keeps the order of the others. */
function moveLikeliestFirst(groups: Candidate[][], rank: (candidate: Candidate) => number): Candidate[][] {
  const highest = Math.max(0, ...groups.map((group) => getHighestRank(group, rank)));
  const first = highest > 0 ? groups.findIndex((group) => getHighestRank(group, rank) === highest) : 0;
  return [...groups.slice(first, first + 1), ...groups.slice(0, first), ...groups.slice(first + 1)];
}

function getHighestRank(group: readonly Candidate[], rank: (candidate: Candidate) => number): number {
  return Math.max(0, ...group.map(rank));
}
