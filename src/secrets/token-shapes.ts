import escapeStringRegexp from 'escape-string-regexp';
import type { Found } from './found.js';

/**
 * The shape of an issuer's tokens, down to the length at which logs cut them off. Each token contains one of the marks; a text
 * without any of them is not searched.
 */
type Shape = readonly [kind: string, marks: string, source: string];

/**
 * Tokens with a prefix that identifies their issuer, from the issuers' own documentation. secretlint also knows some of them, but
 * these are found without loading it.
 */
const documented: readonly Shape[] = [
  ['github token', 'ghp_ gho_ ghu_ ghs_ ghr_ github_pat_', 'gh[pousr]_\\w{20,255}|github_pat_\\w{20,255}'],
  [
    'gitlab token',
    'glpat- gldt- glrt- glptt- glft- glimt- glagent- gloas- glcbt- glsoat- glffct- GR1348941',
    'gl(?:pat|dt|rt|ptt|ft|imt|agent|oas|cbt|soat|ffct)-[\\w.-]{18,320}|GR1348941[\\w-]{20,64}',
  ],
  ['anthropic key', 'sk-ant-', 'sk-ant-[\\w-]{16,255}'],
  ['openai key', 'sk-', 'sk-(?=[\\w-]*\\d)[\\w-]{20,255}'],
  [
    'stripe key',
    'k_live_ k_test_ k_prod_ whsec_',
    '[sr]k_(?:live|test|prod)_\\w{10,255}|whsec_[A-Za-z0-9+/=]{16,255}',
  ],
  ['slack token', 'xox xapp-', 'xox[abeoprs](?:\\.xox[bp])?-[\\w-]{10,255}|xapp-[\\w-]{10,255}'],
  [
    'slack webhook',
    'hooks.slack.com',
    'https://hooks\\.slack\\.com/(?:services|workflows|triggers)/[\\w/-]{12,255}',
  ],
  [
    'discord webhook',
    '/api/webhooks/',
    'https://discord(?:app)?\\.com/api/webhooks/\\d{5,25}/[\\w-]{20,255}',
  ],
  ['aws key id', 'A3T AKIA ASIA ABIA ACCA', '(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?!\\w)'],
  ['google key', 'AIza', 'AIza[\\w-]{35}'],
  ['google token', 'ya29. 1//0 GOCSPX-', 'ya29\\.[\\w-]{20,2048}|1//0[\\w-]{20,512}|GOCSPX-[\\w-]{20,64}'],
  ['npm token', 'npm_', 'npm_[A-Za-z0-9]{30,64}'],
  ['pypi token', 'pypi-AgEI', 'pypi-AgEI[\\w-]{30,1024}'],
  ['sendgrid key', 'SG.', 'SG\\.[\\w-]{16,64}\\.[\\w-]{16,64}'],
  ['twilio key', 'SK', 'SK[0-9a-f]{32}'],
  ['supabase key', 'sb_secret_ sbp_', 'sb_secret_[\\w-]{16,128}|sbp_[0-9a-f]{32,64}'],
  ['hugging face token', 'hf_ api_org_', 'hf_[A-Za-z0-9]{30,64}|api_org_[A-Za-z]{34}'],
  ['digitalocean token', '_v1_', 'do[opr]_v1_[0-9a-f]{32,64}'],
  ['shopify token', 'shpat_ shpca_ shppa_ shpss_', 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,64}'],
  ['linear key', 'lin_', 'lin_(?:api|oauth)_\\w{30,128}'],
  ['docker token', 'dckr_', 'dckr_(?:pat|oat)_[\\w-]{20,64}'],
  ['databricks token', 'dapi', 'dapi[0-9a-f]{32}'],
  ['vault token', 'hvs. hvb. hvr.', 'hv[sbr]\\.[\\w-]{20,320}'],
  ['grafana token', 'glsa_ glc_', 'gl(?:sa|c)_[\\w+/=-]{30,400}'],
  ['sentry token', 'sntry', 'sntry[su]_[\\w+/=-]{30,400}'],
  ['postman key', 'PMAK-', 'PMAK-[0-9a-f-]{30,80}'],
  ['atlassian token', 'ATATT3', 'ATATT3[\\w=-]{30,255}'],
  ['telegram token', ':AA', '(?:bot)?\\d{8,10}:AA[\\w-]{33}'],
  ['age key', 'AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1[0-9A-Z]{40,64}'],
  ['groq key', 'gsk_', 'gsk_[A-Za-z0-9]{40,64}'],
  ['xai key', 'xai-', 'xai-[A-Za-z0-9]{60,100}'],
  ['resend key', 're_', 're_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,32}'],
  ['vercel token', 'vercel_blob_rw_', 'vercel_blob_rw_\\w{30,80}'],
  ['figma token', 'fig', 'fig[dou]r?_[\\w-]{36,64}'],
  ['tailscale key', 'tskey-', 'tskey-(?:auth|api|client|scim|webhook)-[\\w-]{16,80}'],
  ['replicate token', 'r8_', 'r8_[A-Za-z0-9]{36,40}'],
  // RFC 7519: signed, encrypted, or cut off after its claims.
  [
    'jwt',
    'eyJ',
    'eyJ[\\w-]{8,1024}\\.[\\w-]{8,16384}(?:(?:\\.[\\w-]{0,4096}){1,3}|\\n\\s{0,40}[\\w-]{8,4096}\\.[\\w-]{16,4096})?',
  ],
];

/**
 * Shapes that secretlint's recommended rules do not know, from config/gitleaks.toml of gitleaks (MIT, © 2019 Zachary Rice), at
 * b58d3f102cf3a2c84cb7f923d05c25c9b1aed84b of https://github.com/gitleaks/gitleaks; each kind is named after its rule. Rules that
 * need a vendor's name beside a value without a shape are left to the names that indicate a secret.
 */
const ofGitleaks: readonly Shape[] = [
  ['1password key', 'A3-', 'A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}'],
  ['1password token', 'ops_eyJ', 'ops_eyJ[a-zA-Z0-9+/]{100,4096}={0,3}'],
  ['adobe secret', 'p8e-', 'p8e-[A-Za-z0-9]{32}'],
  ['airtable token', 'pat', 'pat[A-Za-z0-9]{14}\\.[a-f0-9]{64}'],
  ['alibaba key', 'LTAI', 'LTAI[A-Za-z0-9]{20}(?!\\w)'],
  ['artifactory key', 'AKCp cmVmd', 'AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59}'],
  [
    'authress key',
    '.acc',
    '(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\\.[a-z0-9]{4,6}\\.acc[_-][a-z0-9-]{10,32}\\.[\\w+/=-]{30,120}',
  ],
  [
    'aws bedrock key',
    'ABSK bedrock-api-key-',
    'ABSK[A-Za-z0-9+/]{109,269}={0,2}|bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[\\w+/=-]{0,1024}',
  ],
  ['azure client secret', 'Q~', '[\\w~.]{3}\\dQ~[\\w~.-]{31,34}'],
  ['clickhouse key', '4b1d', '4b1d[A-Za-z0-9]{38}(?!\\w)'],
  ['clojars token', 'CLOJARS_', 'CLOJARS_[A-Za-z0-9]{60}'],
  ['cloudflare key', 'v1.0-', 'v1\\.0-[a-f0-9]{24}-[a-f0-9]{146}'],
  ['defined networking token', 'dnkey-', 'dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52}'],
  ['doppler token', 'dp.pt.', 'dp\\.pt\\.[A-Za-z0-9]{43}'],
  ['duffel token', 'duffel_', 'duffel_(?:test|live)_[\\w=-]{43}'],
  ['dynatrace token', 'dt0c01.', 'dt0c01\\.[A-Za-z0-9]{24}\\.[A-Za-z0-9]{64}'],
  ['easypost token', 'EZAK EZTK', 'EZ[AT]K[A-Za-z0-9]{54}'],
  ['facebook token', 'EAAM EAAC', 'EAA[MC][A-Za-z0-9]{100,512}'],
  ['flutterwave key', 'FLW', 'FLW(?:SECK|PUBK)_TEST-[A-Ha-h0-9]{12,32}(?:-X)?'],
  ['fly.io token', 'fo1_ fm1 fm2_', 'fo1_[\\w-]{43}|fm(?:1[ar]|2)_[a-zA-Z0-9+/]{100,2048}={0,3}'],
  ['frame.io token', 'fio-u-', 'fio-u-[\\w=-]{64}'],
  ['gocardless token', 'live_', 'live_[\\w=-]{40}(?!\\w)'],
  ['harness key', 'pat. sat.', '[ps]at\\.[\\w-]{22}\\.[a-zA-Z0-9]{24}\\.[a-zA-Z0-9]{20}'],
  ['terraform token', '.atlasv1.', '[A-Za-z0-9]{14}\\.atlasv1\\.[\\w=-]{60,70}'],
  ['heroku key', 'HRKU-AA', 'HRKU-AA[\\w-]{58}'],
  ['infracost token', 'ico-', 'ico-[a-zA-Z0-9]{32}(?!\\w)'],
  ['42 secret', 's-s4t2', 's-s4t2(?:ud|af)-[a-f0-9]{64}'],
  ['lob key', 'live_ test_', '(?:live|test)_(?:pub_)?[a-f0-9]{31,35}(?!\\w)'],
  ['mailchimp key', '-us', '[a-f0-9]{32}-us\\d{1,2}(?!\\w)'],
  ['mailgun key', 'key-', '(?:pub)?key-[a-f0-9]{32}(?!\\w)'],
  ['mapbox token', 'k.eyJ', '[ps]k\\.eyJ[A-Za-z0-9]{50,100}\\.[\\w-]{22}|pk\\.[a-z0-9]{60}\\.[a-z0-9]{22}'],
  ['maxmind key', '_mmk', '[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk'],
  [
    'teams webhook',
    '.webhook.office.com',
    'https://[a-z0-9]{1,63}\\.webhook\\.office\\.com/webhookb2/[\\w@/-]{60,255}',
  ],
  ['new relic key', 'NRAK- NRJS- NRII-', 'NR(?:AK-[A-Z0-9]{27}|JS-[a-f0-9]{19}|II-[A-Za-z0-9-]{32})'],
  ['notion token', 'ntn_', 'ntn_[0-9]{11}[A-Za-z0-9]{35}'],
  ['octopus key', 'API-', 'API-[A-Z0-9]{26}(?!\\w)'],
  ['openshift token', 'sha256~', 'sha256~[\\w-]{43}(?![\\w-])'],
  ['perplexity key', 'pplx-', 'pplx-[a-zA-Z0-9]{48}'],
  ['plaid token', 'access-', 'access-(?:sandbox|development|production)-[0-9a-f-]{36}'],
  ['planetscale secret', 'pscale_', 'pscale_(?:tkn|oauth|pw)_[\\w=.-]{32,64}'],
  ['prefect token', 'pnu_', 'pnu_[a-zA-Z0-9]{36}'],
  ['pulumi token', 'pul-', 'pul-[a-f0-9]{40}'],
  ['readme token', 'rdme_', 'rdme_[a-z0-9]{70}'],
  ['rubygems token', 'rubygems_', 'rubygems_[a-f0-9]{48}'],
  ['scalingo token', 'tk-us-', 'tk-us-[\\w-]{48}'],
  ['sendinblue token', 'xkeysib-', 'xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}'],
  ['settlemint token', 'sm_', 'sm_[aps]at_[a-zA-Z0-9]{16}(?!\\w)'],
  ['shippo token', 'shippo_', 'shippo_(?:live|test)_[a-fA-F0-9]{40}'],
  ['sourcegraph token', 'sgp_', 'sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}'],
  ['square token', 'EAAA sq0', '(?:EAAA|sq0(?:atp|csp)-)[\\w-]{22,60}'],
  ['typeform token', 'tfp_', 'tfp_[\\w.=-]{59}'],
  [
    'yandex key',
    'AQVN YC t1.',
    'AQVN[\\w-]{35,38}|t1\\.[A-Z0-9a-z_-]{1,128}={0,2}\\.[A-Z0-9a-z_-]{86}={0,2}|YC[a-zA-Z0-9_-]{38}(?!\\w)',
  ],
];

const patterns = [...documented, ...ofGitleaks].map(([kind, marks, source]) => ({
  kind,
  marks: marks.split(' '),
  pattern: new RegExp(source, 'g'),
}));

/** Checked first, since most texts are short and contain no mark. */
const anyMark = new RegExp(
  patterns.flatMap(({ marks }) => marks.map((mark) => escapeStringRegexp(mark))).join('|'),
);

/**
 * Finds every token at the start of a word. The check for the word's start comes after the match: as a lookbehind it makes
 * the search ten times slower.
 */
export function findTokens(text: string): Found[] {
  if (!anyMark.test(text)) return [];
  return patterns.flatMap(({ kind, marks, pattern }) => {
    const found: Found[] = [];
    if (!marks.some((mark) => text.includes(mark))) return found;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      if (/[\w-]/.test(text[match.index - 1] ?? ' ')) {
        // `disk-` does not begin a token, but what follows it may.
        pattern.lastIndex = match.index + 1;
        continue;
      }
      found.push({ start: match.index, end: pattern.lastIndex, kind });
    }
    return found;
  });
}
