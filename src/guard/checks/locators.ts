import type { Note } from '../../core/guard/note.js';
import type { Violation } from '../../core/guard/violation.js';
import { violationOf } from '../rules.js';
import type { Replacement } from '../tests/compare.js';

/** What is known of the page on which a test was red. */
export interface SeenPage {
  /** Playwright's accessibility snapshot (YAML), or null where none was taken. */
  readonly ariaSnapshot: string | null;
  /** Playwright's error messages, with their call logs. */
  readonly errors: readonly string[];
}

/** What the replaced locators found and find. */
export interface LocatorJudgement {
  readonly violations: readonly Violation[];
  readonly notes: readonly Note[];
}

/** A locator that found its element in the red run was not the fault; what the new one finds is named for the reviewer. */
export function judgeLocators(
  replaced: readonly Replacement[],
  pages: readonly SeenPage[],
): LocatorJudgement {
  const distinct = [...new Map(replaced.map((one) => [`${one.old} ${one.now}`, one])).values()];
  const violations = distinct.flatMap(({ old, now, before, after }) => {
    const page = pages.find((one) => foundOne(old, one));
    if (!page || isNarrower(old, now)) return [];
    const { file, line, source } = after;
    return [
      violationOf('locator-not-at-fault', { file, line, before: before.source, after: source, detail: old }),
    ];
  });
  const notes = distinct.map(({ old, now, after: { file, line } }) => ({
    file,
    line,
    says: `${old} became ${now}`,
    locator: now,
  }));
  return { violations, notes };
}

/** The notes, with what each new locator finds on the first of these accessibility snapshots that tells. */
export function nameFound(notes: readonly Note[], snapshots: readonly string[]): Note[] {
  return notes.map(({ locator, ...note }) => {
    const found = snapshots
      .map((one) => (locator === undefined ? null : findInSnapshot(locator, one)))
      .find((one) => one !== null && one.length > 0);
    return found ? { ...note, says: `${note.says}, which finds ${found.slice(0, 3).join('; ')}` } : note;
  });
}

/** The old locator with something more to it still looks for the same thing. */
function isNarrower(old: string, now: string): boolean {
  return now.startsWith(`${old}.`) || now.endsWith(`.${old}`);
}

/** Whether a locator found just one element: Playwright said so of the failed step, or the snapshot has just one. */
function foundOne(code: string, { ariaSnapshot, errors }: SeenPage): boolean {
  const told = errors.some((error) => {
    const text = plain(error);
    const isOfIt =
      text.includes(`waiting for ${plain(code)}\n`) ||
      text.includes(`Locator: ${plain(code)}\n`) ||
      text.includes(`locator: ${plain(code)}\n`);
    return (
      isOfIt &&
      /locator resolved to <|unexpected value/.test(text) &&
      !/strict mode violation|element is not visible|intercepts pointer events/.test(text)
    );
  });
  return told || (ariaSnapshot !== null && findInSnapshot(code, ariaSnapshot)?.length === 1);
}

/** Quotes and spaces are a matter of taste: Playwright writes `'`, the guard `"`. */
function plain(code: string): string {
  return code
    .replaceAll(/[ \t]*\n\s*/g, '\n')
    .replaceAll(/["`]/g, "'")
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/\{ | \}/g, (brace) => brace.trim());
}

/** The lines of an accessibility snapshot that a locator by role or text finds; null for one that it cannot tell. */
function findInSnapshot(code: string, snapshot: string): string[] | null {
  const parsed = /^getBy(Role|Text)\(("(?:[^"\\]|\\.)*"|\/(?:[^/\\]|\\.)+\/\w*)(?:, \{(.*)\})?\)$/.exec(code);
  if (!parsed) return null;
  const [, kind, first = '', options = ''] = parsed;
  const name = /\bname: ("(?:[^"\\]|\\.)*"|\/(?:[^/\\]|\\.)+\/\w*)/.exec(options)?.[1];
  if (
    options !== '' &&
    !/^(?:(?:name: (?:"(?:[^"\\]|\\.)*"|\/.*\/\w*)|exact: (?:true|false))(?:, )?)+$/.test(options)
  )
    return null;
  const exact = /\bexact: true/.test(options);
  return snapshot.split('\n').flatMap((line) => {
    const node = /^\s*- '?([\w-]+)(?: "((?:[^"\\]|\\.)*)")?((?: \[[^\]]*\])*)(?::(?: "?(.*?)"?)?)?'?$/.exec(
      line,
    );
    if (!node) return [];
    const [, role = '', label = '', , text = ''] = node;
    const isFound =
      kind === 'Role'
        ? JSON.stringify(role) === first && (name === undefined || says(label, name, exact))
        : says(label, first, exact) || says(text, first, exact);
    return isFound ? [line.trim().replace(/^- /, '').replace(/:$/, '')] : [];
  });
}

function says(text: string, wanted: string, exact: boolean): boolean {
  if (text === '') return false;
  if (wanted.startsWith('"')) {
    const value = JSON.parse(wanted) as string;
    return exact ? text === value : text.toLowerCase().includes(value.toLowerCase());
  }
  const [, source = '', flags = ''] = /^\/(.*)\/(\w*)$/.exec(wanted) ?? [];
  try {
    return new RegExp(source, flags.replace('g', '')).test(text);
  } catch {
    return false;
  }
}
