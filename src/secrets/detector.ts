import type { Find, Found } from './found.js';

/**
 * Rules of the preset that are left out: the one that lets a comment in a text switch the others off, which is not for texts
 * that pages write, and those that take a whole URL for a secret, of which agents need the host.
 */
const leftOut = /-(?:filter-comments|basicauth|database-connection-string)$/;

/**
 * Loads secretlint's recommended rules: some 10 ms, and then about 40 MB a second. The rules are driven here and not by
 * `lintSource` of `@secretlint/core`, which is asynchronous though no rule for texts is, and obeys
 * `secretlint-disable` in the text that it looks at.
 */
export async function loadDetector(): Promise<Find> {
  const { rules } = await import('@secretlint/secretlint-rule-preset-recommend');
  const scanners = rules.filter((rule) => !leftOut.test(rule.meta.id));
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
  return name === 'github' || name === 'npm' || name === 'slack' ? `${name} token` : `${name} key`;
}
