/** A stretch of a text that a detector takes for a secret; `end` is behind it. */
export interface Found {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Finds secrets by what they look like. */
export type Detect = (text: string) => readonly Found[];

/** The rule of the preset that lets a comment in a text switch the others off: not for texts that pages write. */
const heedsTheText = '@secretlint/secretlint-rule-filter-comments';

/**
 * Loads secretlint's recommended rules: some 10 ms, and then about 40 MB a second. The rules are driven here and not by
 * `lintSource` of `@secretlint/core`, which is asynchronous though no rule for texts is, and obeys
 * `secretlint-disable` in the text that it looks at.
 */
export async function loadDetector(): Promise<Detect> {
  const { rules } = await import('@secretlint/secretlint-rule-preset-recommend');
  const scanners = rules.filter((rule) => rule.meta.id !== heedsTheText);
  return (text) => {
    const found: Found[] = [];
    for (const rule of scanners) {
      const kind = kindOf(rule.meta.id);
      const report = ({ range: [start, end] }: { range: readonly number[] }) =>
        void (start !== undefined && end !== undefined && end > start && found.push({ start, end, kind }));
      const context = {
        sharedOptions: {},
        createTranslator: () => () => '',
        ignore: () => undefined,
        report,
      };
      const source = { filePath: 'text', ext: '', contentType: 'text', content: text, hasBOM: false };
      type Rule = { create(context: unknown, options: object): { file?(source: unknown): unknown } };
      (rule as unknown as Rule).create(context, {}).file?.(source);
    }
    return found;
  };
}

/** `@secretlint/secretlint-rule-sendgrid` → `sendgrid key`. */
function kindOf(ruleId: string): string {
  const name = ruleId.replace(/^.*rule-/, '');
  if (name === 'privatekey') return 'private key';
  if (name === 'basicauth') return 'credentials';
  if (name === 'database-connection-string') return 'connection string';
  return name === 'github' || name === 'npm' || name === 'slack' ? `${name} token` : `${name} key`;
}
