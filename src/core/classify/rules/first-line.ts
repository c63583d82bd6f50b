import type { Category } from '../../diagnosis.js';
import type { Rule } from '../rule.js';

/** A class, and the words that show what an error is about; of two words with the same beginning, the longer must come first. */
interface Matter {
  readonly category: Category;
  readonly words: readonly string[];
  readonly confidence: number;
}

const failureWords = String.raw`error(?!:)|fail(?:s|ed|ure|ing)?|exception|fatal|cannot|can't|could ?n[o']t|unable|invalid|missing|denied|refused|rejected|unexpected|not found|does(?: not|n't) exist|no such|is required|aborted|broken|crash(?:ed)?|timed? ?out`;

const matters: readonly Matter[] = [
  {
    category: 'database-error',
    confidence: 0.44,
    words:
      'database sql table column schema migrat query queries postgres mariadb sqlite mongo redis prisma drizzle sequelize typeorm knex supabase firestore transaction constraint'.split(
        ' ',
      ),
  },
  {
    category: 'build-error',
    confidence: 0.43,
    words:
      'compil bundl transpil transform module import syntax pars plugin loader tsconfig typescript webpack vite rollup esbuild babel swc turbopack postcss tailwind sass build dependenc package'.split(
        ' ',
      ),
  },
  {
    category: 'ui-error',
    confidence: 0.42,
    words:
      'element selector locator click visible hidden screenshot snapshot button dialog modal dropdown heading checkbox menu aria xpath'.split(
        ' ',
      ),
  },
  {
    category: 'network-error',
    confidence: 0.41,
    words:
      'request response fetch connect socket proxy server api endpoint navigat gateway upload download graphql websocket redirect login auth token credential'.split(
        ' ',
      ),
  },
];

/** Classifies by the subject of an error's first line if no rule knows its wording: weak evidence, but better than none. */
export const firstLineRules: readonly Rule[] = matters.map(({ category, words, confidence }) => ({
  id: `${category.replace('-error', '')}/first-line`,
  category,
  // Both words must be on the first non-blank line, in either order; a word within a path or a name does not count.
  pattern: new RegExp(
    String.raw`^\s*(?=[^\n]{0,200}?(?:\b(?:${failureWords})\b|[a-z)] error:))(?=[^\n]{0,200}?(?<![\w./\\-])(?:${words.join('|')})\w{0,8}(?![\w./\\-]))`,
    'i',
  ),
  sources: ['error'],
  unless: /expect\(|\btest timeout\b/i,
  confidence,
}));
