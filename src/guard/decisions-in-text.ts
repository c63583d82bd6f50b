import { type Decision, plainName } from './decision.js';

/** What decides in a file that is not parsed: where a part of it ends, and what a part that decides has in it. */
type Language = readonly [files: RegExp, ends: RegExp, deciding: RegExp];

/** The name of a file of SQL, for SQL that is in code. */
export const sqlFile = '.sql';

const languages: readonly Language[] = [
  [
    /\.sql$/,
    /\b(?:AND|OR|WHERE|HAVING|ON|SET|VALUES|ORDER BY|LIMIT)\b|[,;\n]/i,
    /\b(?:NOT NULL|CHECK|UNIQUE|REFERENCES|IS (?:NOT )?NULL|I?LIKE|IN|BETWEEN)\b|[<>=]/i,
  ],
  // The expressions of templates are code.
  [
    /\.(?:html?|vue|svelte|astro)$/,
    /\s+(?=[\w-]+=["']|required\b|disabled\b)|[>\n]/,
    /\b(?:required|disabled|readonly|minlength|maxlength|pattern)\b/i,
  ],
  [
    /\.(?!css|s[ac]ss|less|json|ya?ml|toml|mdx?|svg|lock|txt)\w+$/,
    /\n|\band\b|\bor\b|&&|\|\|/,
    /\b(?:if|elif|elsif|unless|case|when|assert|raise|throw|abort|validates?\w*)\b|[!=<>]=|\s[<>]\s/,
  ],
];

/** Returns all that decides in a text of this kind of file: other languages, the markup of pages and components. */
export function decisionsInText(
  text: string,
  {
    file,
    kind = file,
    line: first = 1,
  }: { readonly file: string; readonly kind?: string; readonly line?: number },
): Decision[] {
  const [, ends, deciding] = languages.find(([files]) => files.test(kind)) ?? [];
  if (!ends || !deciding) return [];
  return text.split('\n').flatMap((source, index) =>
    source.split(ends).flatMap((piece): Decision[] => {
      const part = piece.trim();
      if (!deciding.test(part)) return [];
      const literals = [...part.matchAll(/(["'`])((?:(?!\1).)+)\1|\b(\d[\d.]*)\b/g)];
      return [
        {
          text: part,
          weight:
            /[!=<>]=|\s[<>=]\s|\(|\b(?:in|is|null|required)\b/i.test(part) || !/\bif\b/.test(part) ? 2 : 1,
          stops: true,
          names: new Set((part.match(/[A-Za-z_]\w+/g) ?? []).map(plainName)),
          compared: literals.map(([, , word, number]) => word ?? Number(number)),
          chosen: [],
          numbers: literals.flatMap(([, , , number]) => (number === undefined ? [] : Number(number))),
          file,
          line: first + index,
          source: source.trim(),
        },
      ];
    }),
  );
}
