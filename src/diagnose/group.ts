import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { categories } from '../model/diagnosis.js';
import { haveDifferentRoots, isKnownBy, rootKeys, sameTestKey, environmentOf } from './group-keys.js';
import { sharedRedirects } from './auth-redirects.js';
import { sharedOutages } from './outages.js';

/** A cause under construction: its members and all their root keys. */
interface Group {
  members: DiagnosedFailure[];
  readonly keys: Set<string>;
  /** What its tests have in common with themselves in other projects. */
  readonly tests: Set<string | null>;
}

/**
 * Groups the failures that share a root cause (HL-6), as `c1`, `c2` …. Deep classes come first, because their fixes often heal other causes
 * too; within a class, causes are in order of first appearance. Failures belong together if they have the same deciding evidence, or the same
 * signature and no different evidence, or if they are of the same test in several projects. A failure that was not run again belongs to the
 * failure that was run in its place. All that a hanging or dead server left unanswered is one cause.
 */
export function groupCauses(failures: readonly DiagnosedFailure[]): Cause[] {
  const groups: Group[] = [];
  const own = failures.filter(({ like }) => like === undefined);
  const redirects = sharedRedirects(own);
  const outages = sharedOutages(own);
  for (const failure of own) {
    const shared = [redirects.get(failure), outages.keys.get(failure)].filter((key) => key !== undefined);
    join(groups, failure, [...rootKeys(failure), ...shared]);
  }
  for (const group of groups.slice()) if (groups.includes(group)) joinKnown(groups, group);
  const depth = (lead: DiagnosedFailure) => categories.indexOf(lead.diagnosis.category);
  const joined = failures.filter(({ like }) => like !== undefined);
  return groups
    .map(({ members }) => {
      const ns = new Set(members.map(({ n }) => n));
      const others = joined.filter(({ like = 0 }) => ns.has(like));
      return {
        lead: leadOf(members, outages.later),
        members: [...members, ...others].sort((a, b) => a.n - b.n),
      };
    })
    .toSorted((a, b) => depth(a.lead) - depth(b.lead))
    .map((cause, index) => ({
      id: `c${index + 1}`,
      ...cause,
      parent: null,
      environment: environmentOf(cause.members),
    }));
}

/** Adds a failure to the groups that share a key with it, and to the first that has its signature. These groups become one. */
function join(groups: Group[], failure: DiagnosedFailure, keys: readonly string[]): void {
  const test = sameTestKey(failure);
  const isAlike = ({ members }: Group) => members.some(({ signature }) => signature === failure.signature);
  const alike = groups.find((group) => isAlike(group) && !haveDifferentRoots(group.keys, keys));
  const [home, ...linked] = groups.filter(
    (group) =>
      group === alike || keys.some((key) => group.keys.has(key)) || (test !== null && group.tests.has(test)),
  );
  if (!home) {
    groups.push({ members: [failure], keys: new Set(keys), tests: new Set([test]) });
    return;
  }
  home.members.push(failure);
  for (const key of keys) home.keys.add(key);
  home.tests.add(test);
  for (const other of linked) absorb(groups, home, other);
}

/**
 * Merges a group whose exception has no position (a minified bundle, a log without a stack), or whose failed request has no reason (a page
 * that was left before the answer was read), with the only group that has it. If several groups have it, the group stays alone.
 */
function joinKnown(groups: Group[], group: Group): void {
  for (const key of group.keys) {
    const placed = groups.filter(({ keys }) => [...keys].some((other) => isKnownBy(key, other)));
    const [other] = placed;
    if (placed.length !== 1 || !other || other === group) continue;
    const [home, later] = groups.indexOf(other) < groups.indexOf(group) ? [other, group] : [group, other];
    return absorb(groups, home, later);
  }
}

function absorb(groups: Group[], home: Group, other: Group): void {
  home.members = [...home.members, ...other.members].sort((a, b) => a.n - b.n);
  for (const key of other.keys) home.keys.add(key);
  for (const test of other.tests) home.tests.add(test);
  groups.splice(groups.indexOf(other), 1);
}

/**
 * Returns the failure with the most confident diagnosis, which tells an agent the most; among equals, the earliest. Failures that a server's
 * earlier outage explains come last.
 */
function leadOf(
  members: readonly DiagnosedFailure[],
  later: ReadonlySet<DiagnosedFailure>,
): DiagnosedFailure {
  const telling = members.filter((failure) => !later.has(failure));
  return (telling.length > 0 ? telling : members).reduce((best, failure) =>
    failure.diagnosis.confidence > best.diagnosis.confidence ? failure : best,
  );
}
