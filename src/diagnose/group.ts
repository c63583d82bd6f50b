import type { Cause, DiagnosedFailure } from '../model/cause.js';
import { categories } from '../model/diagnosis.js';
import {
  haveDifferentRoots,
  isExtendedBy,
  listRootKeys,
  createSameTestKey,
  explainEnvironment,
} from './group-keys.js';
import { findSharedRedirects } from './auth-redirects.js';
import { findSharedOutages } from './outages.js';

/** A cause under construction: its members and all their root keys. */
interface Group {
  members: DiagnosedFailure[];
  readonly keys: Set<string>;
  /** The keys of its tests that are the same in other projects (`createSameTestKey`). */
  readonly tests: Set<string | null>;
}

/**
 * Groups the failures that share a root cause (HL-6), as `c1`, `c2` …. Deep classes come first, because their fixes often heal other causes
 * too; within a class, causes are in order of first appearance. Failures belong together if they have the same deciding evidence, or the same
 * signature and no contradicting evidence, or if the same test failed in several projects. A failure that was not run again joins the similar one that
 * was. All failures of a hanging or dead server are one cause.
 */
export function groupIntoCauses(failures: readonly DiagnosedFailure[]): Cause[] {
  const groups: Group[] = [];
  const rerunFailures = failures.filter(({ like }) => like === undefined);
  const redirects = findSharedRedirects(rerunFailures);
  const outages = findSharedOutages(rerunFailures);
  for (const failure of rerunFailures) {
    const shared = [redirects.get(failure), outages.keys.get(failure)].filter((key) => key !== undefined);
    addToGroups(groups, failure, [...listRootKeys(failure), ...shared]);
  }
  for (const group of groups.slice()) if (groups.includes(group)) mergeIntoExtended(groups, group);
  const getDepth = (lead: DiagnosedFailure) => categories.indexOf(lead.diagnosis.category);
  const otherFailures = failures.filter(({ like }) => like !== undefined);
  return groups
    .map(({ members }) => {
      const numbers = new Set(members.map(({ n }) => n));
      const others = otherFailures.filter(({ like = 0 }) => numbers.has(like));
      return {
        lead: chooseLead(members, outages.later),
        members: [...members, ...others].sort((a, b) => a.n - b.n),
      };
    })
    .toSorted((a, b) => getDepth(a.lead) - getDepth(b.lead))
    .map((cause, index) => ({
      id: `c${index + 1}`,
      ...cause,
      parent: null,
      environment: explainEnvironment(cause.members),
    }));
}

/** Merges all groups that share a key with a failure, and the first group with its signature, and adds the failure. */
function addToGroups(groups: Group[], failure: DiagnosedFailure, keys: readonly string[]): void {
  const test = createSameTestKey(failure);
  const hasSameSignature = ({ members }: Group) =>
    members.some(({ signature }) => signature === failure.signature);
  const similar = groups.find((group) => hasSameSignature(group) && !haveDifferentRoots(group.keys, keys));
  const [target, ...linked] = groups.filter(
    (group) =>
      group === similar ||
      keys.some((key) => group.keys.has(key)) ||
      (test !== null && group.tests.has(test)),
  );
  if (!target) {
    groups.push({ members: [failure], keys: new Set(keys), tests: new Set([test]) });
    return;
  }
  target.members.push(failure);
  for (const key of keys) target.keys.add(key);
  target.tests.add(test);
  for (const other of linked) mergeGroups(groups, target, other);
}

/**
 * Merges a group whose exception has no position (a minified bundle, a log without a stack), or whose failed request has no reason (the test left the
 * page before the response arrived), with the group whose key has that detail, if there is only one.
 */
function mergeIntoExtended(groups: Group[], group: Group): void {
  for (const key of group.keys) {
    const detailed = groups.filter(({ keys }) => [...keys].some((other) => isExtendedBy(key, other)));
    const [other] = detailed;
    if (detailed.length !== 1 || !other || other === group) continue;
    const [home, later] = groups.indexOf(other) < groups.indexOf(group) ? [other, group] : [group, other];
    return mergeGroups(groups, home, later);
  }
}

function mergeGroups(groups: Group[], home: Group, other: Group): void {
  home.members = [...home.members, ...other.members].sort((a, b) => a.n - b.n);
  for (const key of other.keys) home.keys.add(key);
  for (const test of other.tests) home.tests.add(test);
  groups.splice(groups.indexOf(other), 1);
}

/**
 * Chooses the failure with the most confident diagnosis, which is the most useful one for an agent; among equals, the earliest. Failures after a
 * server's outage come last.
 */
function chooseLead(
  members: readonly DiagnosedFailure[],
  later: ReadonlySet<DiagnosedFailure>,
): DiagnosedFailure {
  const beforeOutage = members.filter((failure) => !later.has(failure));
  return (beforeOutage.length > 0 ? beforeOutage : members).reduce((best, failure) =>
    failure.diagnosis.confidence > best.diagnosis.confidence ? failure : best,
  );
}
