import { isSecretHeader, isSecretName } from './secret-name.js';

/** What stands where a secret stood. */
const mask = '<masked>';

/**
 * A way in which texts carry named secrets: `before` holds `name`, and `value` is masked where the name means a secret.
 * Every quantifier is bounded or disjoint from what follows it, since the texts may be hostile.
 */
interface NamedSecret {
  readonly pattern: RegExp;
  readonly isSecret: (name: string) => boolean;
}

const namedSecrets: readonly NamedSecret[] = [
  {
    // `authorization: Bearer …` on a line of its own, as Playwright's call logs and servers print requests.
    pattern:
      /^(?<before>[ \t>*|←→-]{0,16}(?<name>[A-Za-z][\w-]{1,63})[ \t]{0,4}:[ \t]{0,4})(?<value>[^\s][^\n]*)$/gm,
    isSecret: isHeaderOnALine,
  },
  {
    // `"password": "…"`, also where the text was cut before the closing quote.
    pattern: /(?<before>"(?<name>[^"\\\n]{1,64})"\s{0,8}:\s{0,8}")(?<value>[^"\\]*(?:\\[\s\S][^"\\]*)*)/g,
    isSecret: isSecretName,
  },
  {
    // `"pin_token": 1234`
    pattern: /(?<before>"(?<name>[^"\\\n]{1,64})"\s{0,8}:\s{0,8})(?<value>[^\s"{}[\],<]+)/g,
    isSecret: isSecretName,
  },
  {
    // JSON within a JSON string: `\"password\":\"…\"`.
    pattern: /(?<before>\\"(?<name>[^"\\\n]{1,64})\\"\s{0,8}:\s{0,8}\\")(?<value>[^"\\]*(?:\\[^"][^"\\]*)*)/g,
    isSecret: isSecretName,
  },
  {
    // `password: 'ab'`, as Node prints objects.
    pattern:
      /(?<![\w"'-])(?<before>(?<name>[A-Za-z_][\w-]{0,63})\s{0,4}:\s{0,4}')(?<value>[^'\\\n]*(?:\\.[^'\\\n]*)*)/g,
    isSecret: isSecretName,
  },
  {
    // The same with double quotes.
    pattern:
      /(?<![\w"'-])(?<before>(?<name>[A-Za-z_][\w-]{0,63})\s{0,4}:\s{0,4}")(?<value>[^"\\\n]*(?:\\.[^"\\\n]*)*)/g,
    isSecret: isSecretName,
  },
  {
    // `{user: ann, password: hunter2}`, as Chromium previews objects.
    pattern: /(?<before>[{,]\s{0,4}(?<name>[A-Za-z_][\w-]{0,63}):[ ]?)(?<value>[^\s,;}'"`{[<][^,;}\n]*)/g,
    isSecret: isSecretName,
  },
  {
    // `token="…"`
    pattern: /(?<![\w.-])(?<before>(?<name>[A-Za-z_][\w.-]{0,63})=")(?<value>[^"\n]*)/g,
    isSecret: isSecretName,
  },
  {
    // `token=…` in a query, a form, a connection string or a list of variables.
    pattern: /(?<![\w.-])(?<before>(?<name>[A-Za-z_][\w.-]{0,63})=)(?<value>[^\s&"<>;,)\]}]+)/g,
    isSecret: isSecretName,
  },
  {
    // A part of a multipart form.
    pattern: /(?<before>name="(?<name>[^"\n]{1,64})"[^\n]{0,256}\n\n)(?<value>[^\n]+)/g,
    isSecret: isSecretName,
  },
  {
    // `textbox "Password": …` of an accessibility snapshot, which shows what was typed.
    pattern: /(?<before>textbox "(?<name>[^"\n]{1,128})"[^:\n]{0,128}: )(?<value>[^\s][^\n]*)/g,
    isSecret: isSecretName,
  },
];

/** Secrets that are known by their place or shape: what stands before the mask, in a group, is kept. */
const shapes: readonly RegExp[] = [
  /()-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  // Names that mean a secret in a query and nothing elsewhere.
  /([?&;](?:key|auth)=)[^\s&"'<>#]+/g,
  // `Fill "…" getByLabel('Password')`, the title of a step.
  /(\b(?:fill|type|press sequentially)[ (]{1,2}")[^"\n]*(?="[^\n]{0,256}(?:password|secret|token))/gi,
  /(\bBearer(?:\s{1,4}|%20))[A-Za-z0-9._~+/=-]{6,}/gi,
  /((?<![\w-]))(?:eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|gh[pousr]_\w{20,}|github_pat_\w{20,}|sk-[\w-]{20,}|[sr]k_(?:live|test)_\w{16,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{35})/g,
];

/**
 * Masks the secrets that say by their name, place or shape that they are secrets (EV-9). This is the thin detector: it
 * knows neither the values of the environment's variables nor tokens without a name. Redacting twice changes nothing.
 */
export function redact(text: string): string {
  const withoutCredentials = text.replace(/:\/\/([^\s/?#"'`<>]{1,512})@/g, (_, found: string) =>
    withoutPassword(found),
  );
  const withoutNamed = namedSecrets.reduce(maskNamed, withoutCredentials);
  return shapes.reduce((masked, shape) => masked.replace(shape, `$1${mask}`), withoutNamed);
}

/** Masks the values of headers that carry credentials, and what `redact` finds in the others. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSecretHeader(name) ? mask : redact(value)]),
  );
}

function maskNamed(text: string, { pattern, isSecret }: NamedSecret): string {
  return text.replace(pattern, (...match: unknown[]) => {
    const { before, name, value } = match.at(-1) as { before: string; name: string; value: string };
    return before + (isSecret(name) && !isHarmless(value) ? mask : value);
  });
}

/** `https://user:password@host`, `postgres://…`, and `https://token@host`, where a short user name stays. */
function withoutPassword(credentials: string): string {
  const colon = credentials.indexOf(':');
  if (colon >= 0) return `://${credentials.slice(0, colon)}:${mask}@`;
  return `://${credentials.length >= 16 ? mask : credentials}@`;
}

/** A `Token: …` of plain prose is no header. */
function isHeaderOnALine(name: string): boolean {
  return isSecretHeader(name) && (name.includes('-') || /^(?:authorization|cookie|apikey)$/i.test(name));
}

/** What gives nothing away. TypeScript prints types in the shape of objects: `{ token: string | null; }`. */
function isHarmless(value: string): boolean {
  if (value === '' || value === mask || value === 'true' || value === 'false') return true;
  return value
    .split('|')
    .every((part) =>
      /^\s*(?:null|undefined|string|number|boolean|any|unknown|never|object)(?:\[\])?\s*$/.test(part),
    );
}
