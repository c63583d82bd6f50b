/** A kind of secret that is known by how it begins. */
interface TokenShape {
  readonly kind: string;
  /** The source of a pattern; where it stands in a word is checked by `maskTokens`. */
  readonly source: string;
}

/**
 * Tokens that say by their first characters whose they are, by the issuers' own documentation. secretlint knows some of
 * them as well; what is here is known without loading it, and to the length at which a token is cut off in a log.
 */
const shapes: readonly TokenShape[] = [
  { kind: 'github token', source: 'gh[pousr]_\\w{20,255}|github_pat_\\w{20,255}' },
  { kind: 'gitlab token', source: 'gl(?:pat|dt|rt|ptt|ft|agent|oas|cbt|soat)-[\\w.-]{18,255}' },
  { kind: 'anthropic key', source: 'sk-ant-[\\w-]{16,255}' },
  { kind: 'openai key', source: 'sk-[\\w-]{20,255}' },
  { kind: 'stripe key', source: '[sr]k_(?:live|test)_\\w{16,255}|whsec_[A-Za-z0-9+/=]{16,255}' },
  { kind: 'slack token', source: 'xox[abeoprs](?:\\.xox[bp])?-[\\w-]{10,255}|xapp-[\\w-]{10,255}' },
  {
    kind: 'slack webhook',
    source: 'https://hooks\\.slack\\.com/(?:services|workflows|triggers)/[\\w/-]{12,255}',
  },
  {
    kind: 'discord webhook',
    source: 'https://discord(?:app)?\\.com/api/webhooks/\\d{5,25}/[\\w-]{20,255}',
  },
  { kind: 'aws key id', source: '(?:AKIA|ASIA)[0-9A-Z]{16}' },
  { kind: 'google key', source: 'AIza[\\w-]{35}' },
  { kind: 'google token', source: 'ya29\\.[\\w-]{20,2048}|1//0[\\w-]{20,512}|GOCSPX-[\\w-]{20,64}' },
  { kind: 'npm token', source: 'npm_[A-Za-z0-9]{30,64}' },
  { kind: 'pypi token', source: 'pypi-AgEI[\\w-]{30,512}' },
  { kind: 'sendgrid key', source: 'SG\\.[\\w-]{16,64}\\.[\\w-]{16,64}' },
  { kind: 'twilio key', source: 'SK[0-9a-f]{32}' },
  { kind: 'supabase key', source: 'sb_secret_[\\w-]{16,128}|sbp_[0-9a-f]{32,64}' },
  { kind: 'hugging face token', source: 'hf_[A-Za-z0-9]{30,64}' },
  { kind: 'digitalocean token', source: 'do[opr]_v1_[0-9a-f]{32,64}' },
  { kind: 'shopify token', source: 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,64}' },
  { kind: 'linear key', source: 'lin_(?:api|oauth)_\\w{30,128}' },
  { kind: 'docker token', source: 'dckr_(?:pat|oat)_[\\w-]{20,64}' },
  { kind: 'databricks token', source: 'dapi[0-9a-f]{32}' },
  { kind: 'vault token', source: 'hv[sbr]\\.[\\w-]{20,255}' },
  { kind: 'grafana token', source: 'gl(?:sa|c)_[\\w+/=-]{30,255}' },
  { kind: 'sentry token', source: 'sntry[su]_[\\w+/=-]{30,255}' },
  { kind: 'postman key', source: 'PMAK-[0-9a-f-]{30,80}' },
  { kind: 'atlassian token', source: 'ATATT3[\\w=-]{30,255}' },
  { kind: 'telegram token', source: '\\d{8,10}:AA[\\w-]{33}' },
  { kind: 'age key', source: 'AGE-SECRET-KEY-1[0-9A-Z]{40,64}' },
  { kind: 'jwt', source: 'eyJ[\\w-]{8,1024}\\.[\\w-]{8,16384}(?:\\.[\\w-]{0,4096}){0,3}' },
];

const patterns = shapes.map(({ kind, source }) => ({ kind, pattern: new RegExp(source, 'g') }));

// A token begins a word. `%3A` and `\n` before it, as URLs and JSON have them, end in letters that belong to no word.
const withinWord = /[\w-]$/;
const endOfEscape = /(?:%[0-9A-Fa-f]{2}|\\[bfnrt])$/;

/**
 * Masks every token that stands at the beginning of a word. Where a token begins is looked at after it was found: asked
 * before, in the pattern itself, the same question makes the search ten times as slow.
 */
export function maskTokens(text: string, mask: (kind: string) => string): string {
  return patterns.reduce((masked, { kind, pattern }) => maskOne(masked, pattern, mask(kind)), text);
}

function maskOne(text: string, pattern: RegExp, mask: string): string {
  let [masked, at] = ['', 0];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const before = text.slice(Math.max(at, match.index - 3), match.index);
    if (withinWord.test(before) && !endOfEscape.test(before)) {
      // `disk-` begins none, but what follows it may.
      pattern.lastIndex = match.index + 1;
      continue;
    }
    masked += text.slice(at, match.index) + mask;
    at = pattern.lastIndex;
  }
  return masked + text.slice(at);
}
