import {
  type Category,
  type Diagnosis,
  type EvidenceSource,
  type Reason,
  type RetryAxis,
  weak,
} from '../model/diagnosis.js';
import { noProjectRules, projectRuleId, type ProjectRules, type Pattern, type Rule } from './rule.js';
import { rules } from './rules.js';
import { noiseRules } from './rules/noise.js';
import { retryRules } from './rules/retry.js';

/** The cleaned text of one channel of the evidence. */
export interface EvidenceText {
  readonly source: EvidenceSource;
  readonly text: string;
  /** Whether it is too weak to decide, because passing tests show it too or other evidence explains it. */
  readonly hint?: boolean;
  /**
   * Whether tests share this output and no failed answer of this test stands behind it: then errors of requests are only hints, but errors of
   * the app count.
   */
  readonly shared?: boolean;
  /** Whether the page got an answer, and no error, for everything that it asked of the app. */
  readonly answered?: boolean;
}

/** A project's effective rules, ready for matching. */
export interface Matcher {
  /** Returns a reason for every rule that matches, at most one per text. */
  reasonsIn(texts: readonly EvidenceText[]): Reason[];
  /** Returns the first axis whose rule matches a text in a failure of this class, else `code_error` (CS-11). */
  retryAxisOf(texts: readonly EvidenceText[], decided: Pick<Diagnosis, 'category' | 'why'>): RetryAxis;
  /** Returns the text of a channel without its noise lines. */
  withoutNoise(source: EvidenceSource, text: string): string;
}

const longestEvidence = 300;
/** A longer line is not shown in full, so a match that far from its beginning would be cut off. */
const longestShown = 150;
const far = 100;
/** The classes of errors that the app itself has, rather than what it shows or answers because of them. */
const ofTheApp = new Set<Category>(['build-error', 'database-error', 'runtime-error']);
/** How many lines that match and that `unless` excludes are skipped at most. */
const mostExceptions = 50;

/** Combines a project's own rules with the built-in ones (CS-9). */
export function createMatcher(project: ProjectRules = noProjectRules): Matcher {
  const off = new Set(project.off);
  const own = project.rules.map((rule) => ({ ...rule, rule: ownRule(rule) }));
  const all = [...own.map(({ rule }) => rule), ...rules.filter(({ id }) => !off.has(id))];
  const ignored = project.ignore.map((source) => new RegExp(source));
  return {
    reasonsIn: (texts) => texts.flatMap((text) => all.flatMap((rule) => reasonOf(rule, text) ?? [])),
    retryAxisOf: (texts, { category, why }) =>
      own.find(({ rule, retry }) => retry !== null && why.some((reason) => reason.rule === rule.id))?.retry ??
      builtInAxis(texts, category),
    withoutNoise: (source, text) => {
      const noise = noiseRules
        .filter(({ sources }) => sources.includes(source))
        .map(({ pattern }) => pattern);
      return withoutLines(text, [...noise, ...ignored]);
    },
  };
}

function ownRule({ id, category, pattern, sources }: ProjectRules['rules'][number]): Rule {
  return {
    id: projectRuleId(id),
    category,
    pattern: new RegExp(pattern, 'm'),
    sources,
    confidence: 1,
  };
}

function builtInAxis(texts: readonly EvidenceText[], category: Category): RetryAxis {
  const all = texts.map(({ text }) => text).join('\n');
  const rule = retryRules.find(
    (rule) => rule.categories.includes(category) && matchingLine(rule, all) !== null,
  );
  return rule?.axis ?? 'code_error';
}

function withoutLines(text: string, patterns: readonly RegExp[]): string {
  const lines = text.split('\n').filter((line) => !patterns.some((pattern) => pattern.test(line)));
  return lines.join('\n');
}

function reasonOf(rule: Rule, { source, text, hint, shared, answered }: EvidenceText): Reason | null {
  if (!rule.sources.includes(source) || (rule.unanswered && answered)) return null;
  const line = matchingLine(rule, text);
  if (line === null) return null;
  const { id, category } = rule;
  const isHint = hint || (shared && !ofTheApp.has(category));
  const confidence = isHint ? Math.min(rule.confidence, weak) : rule.confidence;
  return { rule: id, category, source, evidence: line, confidence };
}

/** Returns a line without its indentation; of a long one (JSON, a statement), the part from the clause with the match on. */
function excerpt(line: string, at: number): string {
  const clause = /(?<=[:-] |["(])(?:(?![:-] )[^"(]){0,60}$/.exec(line.slice(0, at));
  const from = line.length > longestShown && at > far ? (clause?.index ?? at) : 0;
  return `${from > 0 ? '…' : ''}${line.slice(from).trim()}`.slice(0, longestEvidence);
}

function matchingLine({ pattern, unless }: Pattern, text: string): string | null {
  let rest = text;
  for (let tries = 0; tries < mostExceptions; tries++) {
    const match = pattern.exec(rest);
    if (!match) return null;
    const line = lineOf(rest, match);
    if (!unless?.test(line.text)) return announced(excerpt(line.text, line.at), line.after);
    const end = rest.indexOf('\n', match.index + match[0].length);
    if (end === -1) return null;
    rest = rest.slice(end + 1);
  }
  return null;
}

/** A line that only announces the error that the next line names: `Build failed with 1 error:`, `[plugin build-info]`, Rust's place of a panic. */
export const announcement =
  /(?:[Ee]rrors?|Exception)(?::| \()$|^\[plugin:? ?[^\]\n]{1,60}\]$|^thread '.{1,100} panicked at \S{1,300}:\d{1,7}:\d{1,7}:$|^(?:\[[\w-]{1,40}\]){2,}$/;
const nextLine = /^(?:[ \t]*\n){1,3}([^\n]*\S)/;
/** How many announcements may follow one another. */
const mostAnnouncements = 3;

/** Returns a line, or the line that it announces. */
function announced(line: string, after: string): string {
  let [current, rest] = [line, after];
  for (let n = 0; n < mostAnnouncements && announcement.test(current); n++) {
    const next = nextLine.exec(rest);
    if (!next) break;
    current = excerpt(next[1] ?? '', 0);
    rest = rest.slice(next[0].length);
  }
  return current;
}

/** A line of a text. */
interface Line {
  readonly text: string;
  /** Where in it a match begins. */
  readonly at: number;
  /** The text from its end on. */
  readonly after: string;
}

/** Returns the line in which a match begins, and where in it, ignoring the whitespace that the match begins with. */
function lineOf(text: string, match: RegExpExecArray): Line {
  const from = match.index + match[0].search(/\S|$/);
  const start = from === 0 ? 0 : text.lastIndexOf('\n', from - 1) + 1;
  const at = text.indexOf('\n', from);
  const end = at === -1 ? text.length : at;
  return { text: text.slice(start, end), at: from - start, after: text.slice(end) };
}
