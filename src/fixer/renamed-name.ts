import escapeStringRegexp from 'escape-string-regexp';
import { parseSource } from '../code/source-file.js';
import { visit } from '../code/syntax.js';
import type { Hunk } from '../core/blame.js';
import type { Proposal, ProposedFile, Sources, SourceText } from './proposal.js';
import { holds, placesOf, renamedIn } from './renamed.js';
import { suspectNames, type NameEvidence, type Suspect } from './suspect-names.js';

/** The evidence about a failure that a renamed name may have caused. */
export interface RenamedNameEvidence extends NameEvidence {
  /** The file whose line threw, or null. */
  readonly thrower: string | null;
  readonly sources: () => Promise<Sources>;
  /** Returns the changes that mention a name. */
  readonly hunksAbout: (name: string) => Promise<readonly Hunk[]>;
}

/**
 * Proposes a fix for a failure that uses an old name (BF-4): of a column, a table, a route or a property. A change must show both names, and the
 * failing side follows. If there are several such names, or the old one may mean something else, nothing is proposed.
 */
export async function renamedName(evidence: RenamedNameEvidence): Promise<Proposal | null> {
  const found: Proposal[] = [];
  for (const suspect of suspectNames(evidence)) {
    const to = successorOf(suspect.name, await evidence.hunksAbout(suspect.name));
    if (to === null) continue;
    const files = followers(suspect, to, { ...(await evidence.sources()), thrower: evidence.thrower });
    if (files.length === 0) continue;
    const summary = `the ${suspect.kind} ${suspect.name} was renamed to ${to}, but the failing code still used the old name`;
    found.push({ summary, files });
    // Shorter paths of the same route would only repeat this proposal.
    if (suspect.kind === 'route') break;
  }
  const [only] = found;
  return found.length === 1 && only ? only : null;
}

/** Returns what a change renamed a name to, by the statement of a migration or by the changed lines. */
function successorOf(name: string, hunks: readonly Hunk[]): string | null {
  const quoted = escapeStringRegexp(name);
  const stated = new RegExp(
    `\\brename\\s+(?:column\\s+)?["\`]?${quoted}["\`]?\\s+to\\s+["\`]?(\\w+)|rename(?:Column|Table)\\([^)]*["'\`]${quoted}["'\`],\\s*["'\`](\\w+)|\\b${quoted}["\`]?\\s+rename\\s+to\\s+["\`]?(\\w+)`,
    'i',
  );
  const told = hunks.flatMap(({ now }) =>
    now.flatMap((line) => stated.exec(line)?.slice(1).find(Boolean) ?? []),
  );
  if (told.length > 0) return new Set(told).size === 1 ? (told[0] ?? null) : null;
  const change = renamedIn(hunks, name);
  return change.kind === 'renamed' && /^[\w/.:-]+$/.test(change.to) ? change.to : null;
}

function followers(
  { kind, name }: Suspect,
  to: string,
  { app, tests, thrower }: Sources & Pick<RenamedNameEvidence, 'thrower'>,
): ProposedFile[] {
  if (app === null) return [];
  switch (kind) {
    case 'column':
      return changed(app.filter(isQuery), name, (text, file) => inQueries(file, text, { name, to }));
    case 'route': {
      const rewrite = (text: string) => atAll(text, placesOf(text, name), { name, to });
      const ofApp = changed(app, name, rewrite);
      return ofApp.length > 0 ? ofApp : changed(tests, name, rewrite);
    }
    case 'property':
    case 'element': {
      const before = kind === 'property' ? /\./ : /["'`#.=]/;
      const rewrite = (text: string) =>
        atAll(
          text,
          placesOf(text, name).filter((at) => before.test(text[at - 1] ?? '')),
          { name, to },
        );
      return changed(
        app.filter(({ file }) => file === thrower),
        name,
        rewrite,
      );
    }
    default:
      return kind satisfies never;
  }
}

type Rename = { readonly name: string; readonly to: string };

function changed(
  sources: readonly SourceText[],
  name: string,
  rewrite: (text: string, file: string) => string | null,
): ProposedFile[] {
  const touched = sources.filter(({ text }) => holds(text, name));
  const files = touched.map(({ file, text }) => ({ file, before: text, after: rewrite(text, file) }));
  // Partial changes would leave the old name in some files.
  if (files.some(({ after }) => after === null)) return [];
  return files.flatMap(({ after, ...one }) =>
    after === null || after === one.before ? [] : [{ ...one, after }],
  );
}

function atAll(text: string, places: readonly number[], { name, to }: Rename): string {
  return places
    .toSorted((a, b) => b - a)
    .reduce((sum, at) => sum.slice(0, at) + to + sum.slice(at + name.length), text);
}

/** Schemas and migrations describe the past and are not queries. */
function isQuery({ file }: SourceText): boolean {
  return /\.[cm]?[jt]sx?$/.test(file) && !/(?:^|[\\/])(?:migrations?|schema)(?:[\\/.]|$)/i.test(file);
}

const sql = /\b(?:select|insert\s+into|update|delete\s+from|where|returning|join|order\s+by)\b/i;

/**
 * Renames in a file with queries. A distinctive name (`price_cents`) is replaced everywhere in the file, since rows are read by it. Any other
 * (`name`) is replaced only in the queries; if it also occurs elsewhere, its meaning there is unknown and the result is null.
 */
function inQueries(file: string, text: string, { name, to }: Rename): string | null {
  const program = parseSource(file, text)?.program;
  if (!program) return null;
  const queries: { start: number; end: number }[] = [];
  visit(program, ({ type, start, end }) => {
    if ((type === 'Literal' || type === 'TemplateLiteral') && sql.test(text.slice(start, end)))
      queries.push({ start, end });
  });
  const all = placesOf(text, name);
  const inQuery = all.filter((at) => queries.some(({ start, end }) => at >= start && at < end));
  if (inQuery.length === 0) return text;
  if (/_|\p{Ll}\p{Lu}/u.test(name)) return atAll(text, all, { name, to });
  return all.length === inQuery.length ? atAll(text, inQuery, { name, to }) : null;
}
