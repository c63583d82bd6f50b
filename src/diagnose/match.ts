import {
  type Category,
  type Diagnosis,
  type EvidenceSource,
  type Reason,
  type RetryAxis,
  weak,
} from '../model/diagnosis.js';
import { noProjectRules, createProjectRuleId, type ProjectRules, type Pattern, type Rule } from './rule.js';
import { rules } from './rules.js';
import { noiseRules } from './rules/noise.js';
import { retryRules } from './rules/retry.js';

/** The cleaned text of one channel of the evidence. */
export interface EvidenceText {
  readonly source: EvidenceSource;
  readonly text: string;
  /** True if the text must not decide, because passing tests show it, too, or other evidence explains it. */
  readonly isHint?: boolean;
  /**
   * True if tests share this output and no failed response of this test is related to it. Then errors of requests are only hints, but errors of the
   * app count.
   */
  readonly isShared?: boolean;
  /** True if the app answered every page request without an error. */
  readonly isAnswered?: boolean;
}

/** A project's effective rules, ready for matching. */
export interface Matcher {
  /** Returns a reason for every rule that matches, at most one per text. */
  findReasons(texts: readonly EvidenceText[]): Reason[];
  /** Returns the axis of the first retry rule that matches in a failure of this class, or else `code_error` (CS-11). */
  findRetryAxis(texts: readonly EvidenceText[], decided: Pick<Diagnosis, 'category' | 'why'>): RetryAxis;
  /** Returns the text of a channel without its noise lines. */
  removeNoise(source: EvidenceSource, text: string): string;
}

const MAX_EVIDENCE = 300;
/** A longer line begins with the clause of the match if the match is far from the start. */
const MAX_SHOWN = 150;
const FAR_FROM_START = 100;
/** The classes of errors in the app itself, as opposed to its responses and pages. */
const appClasses = new Set<Category>(['build-error', 'database-error', 'runtime-error']);
/** The maximum number of matches to skip because `unless` excludes their lines. */
const MAX_EXCEPTIONS = 50;

/** Combines a project's own rules with the built-in ones (CS-9). */
export function createMatcher(project: ProjectRules = noProjectRules): Matcher {
  const disabledIds = new Set(project.off);
  const projectRules = project.rules.map((rule) => ({ ...rule, rule: compileRule(rule) }));
  const all = [...projectRules.map(({ rule }) => rule), ...rules.filter(({ id }) => !disabledIds.has(id))];
  const ignored = project.ignore.map((source) => new RegExp(source));
  return {
    findReasons: (texts) => texts.flatMap((text) => all.flatMap((rule) => findReason(rule, text) ?? [])),
    findRetryAxis: (texts, { category, why }) =>
      projectRules.find(({ rule, retry }) => retry !== null && why.some((reason) => reason.rule === rule.id))
        ?.retry ?? findBuiltInAxis(texts, category),
    removeNoise: (source, text) => {
      const noise = noiseRules
        .filter(({ sources }) => sources.includes(source))
        .map(({ pattern }) => pattern);
      return removeLines(text, [...noise, ...ignored]);
    },
  };
}

function compileRule({ id, category, pattern, sources }: ProjectRules['rules'][number]): Rule {
  return {
    id: createProjectRuleId(id),
    category,
    pattern: new RegExp(pattern, 'm'),
    sources,
    confidence: 1,
  };
}

function findBuiltInAxis(texts: readonly EvidenceText[], category: Category): RetryAxis {
  const all = texts.map(({ text }) => text).join('\n');
  const rule = retryRules.find(
    (rule) => rule.categories.includes(category) && findMatchingLine(rule, all) !== null,
  );
  return rule?.axis ?? 'code_error';
}

function removeLines(text: string, patterns: readonly RegExp[]): string {
  const lines = text.split('\n').filter((line) => !patterns.some((pattern) => pattern.test(line)));
  return lines.join('\n');
}

function findReason(rule: Rule, { source, text, isHint, isShared, isAnswered }: EvidenceText): Reason | null {
  if (!rule.sources.includes(source) || (rule.unanswered && isAnswered)) return null;
  const line = findMatchingLine(rule, text);
  if (line === null) return null;
  const { id, category } = rule;
  const isOnlyHint = isHint || (isShared && !appClasses.has(category));
  const confidence = isOnlyHint ? Math.min(rule.confidence, weak) : rule.confidence;
  return { rule: id, category, source, evidence: line, confidence };
}

/** Returns a line without its indentation. A long line (JSON, a statement) is shortened and begins with the clause of the match. */
function excerptLine(line: string, at: number): string {
  const clause = /(?<=[:-] |["(])(?:(?![:-] )[^"(]){0,60}$/.exec(line.slice(0, at));
  const from = line.length > MAX_SHOWN && at > FAR_FROM_START ? (clause?.index ?? at) : 0;
  return `${from > 0 ? '…' : ''}${line.slice(from).trim()}`.slice(0, MAX_EVIDENCE);
}

function findMatchingLine({ pattern, unless }: Pattern, text: string): string | null {
  let rest = text;
  for (let tries = 0; tries < MAX_EXCEPTIONS; tries++) {
    const match = pattern.exec(rest);
    if (!match) return null;
    const line = findLine(rest, match);
    if (!unless?.test(line.text)) return resolveAnnouncement(excerptLine(line.text, line.at), line.after);
    const end = rest.indexOf('\n', match.index + match[0].length);
    if (end === -1) return null;
    rest = rest.slice(end + 1);
  }
  return null;
}

/** A line that only announces the error in the next line: `Build failed with 1 error:`, `[plugin build-info]`, the position of a Rust panic. */
export const announcement =
  /(?:[Ee]rrors?|Exception)(?::| \()$|^\[plugin:? ?[^\]\n]{1,60}\]$|^thread '.{1,100} panicked at \S{1,300}:\d{1,7}:\d{1,7}:$|^(?:\[[\w-]{1,40}\]){2,}$/;
const nextLine = /^(?:[ \t]*\n){1,3}([^\n]*\S)/;
/** How many announcements in a row to skip. */
const MAX_ANNOUNCEMENTS = 3;

/** Returns a line, or the line that it announces. */
function resolveAnnouncement(line: string, after: string): string {
  let [current, rest] = [line, after];
  for (let n = 0; n < MAX_ANNOUNCEMENTS && announcement.test(current); n++) {
    const next = nextLine.exec(rest);
    if (!next) break;
    current = excerptLine(next[1] ?? '', 0);
    rest = rest.slice(next[0].length);
  }
  return current;
}

/** A line of a text, and a match in it. */
interface Line {
  readonly text: string;
  /** Where the match begins, as an offset in the line. */
  readonly at: number;
  /** The text after the line. */
  readonly after: string;
}

/** Finds the line in which a match begins, after the match's leading whitespace. */
function findLine(text: string, match: RegExpExecArray): Line {
  const from = match.index + match[0].search(/\S|$/);
  const start = from === 0 ? 0 : text.lastIndexOf('\n', from - 1) + 1;
  const at = text.indexOf('\n', from);
  const end = at === -1 ? text.length : at;
  return { text: text.slice(start, end), at: from - start, after: text.slice(end) };
}
