import { secretsIn, type Secret } from './find-secrets.js';
import type { Find } from './found.js';
import { withMasks } from './masks.js';
import { isSecretHeader, kindOfName } from './secret-name.js';

/** What a mask says in place of a secret. */
export type Label = (secret: Secret) => string;

/** Masking may uncover what a secret had hidden; more often than this only a text does that was made to. */
const mostRounds = 5;

/**
 * Masks the secrets that say by their name, place or shape that they are secrets (EV-9), and what `others` find. Redacting twice
 * changes nothing. Without a label, what comes out is the same in every run and environment.
 */
export function redact(
  text: string,
  others: readonly Find[] = [],
  label: Label = ({ kind }) => kind,
): string {
  return withMasks(text, (opaque, mask) => {
    let masked = opaque;
    for (let round = 0; round < mostRounds; round += 1) {
      const secrets = secretsIn(masked, others);
      if (secrets.length === 0) break;
      masked = replaced(masked, secrets, (secret) => mask(label(secret)));
    }
    return masked;
  });
}

function replaced(text: string, secrets: readonly Secret[], mask: (secret: Secret) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (const secret of secrets) {
    parts.push(text.slice(at, secret.start), mask(secret));
    at = secret.end;
  }
  return parts.join('') + text.slice(at);
}

/** Masks the values of headers that carry credentials, and what `redact` finds in the others. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretHeader(name) && value !== '' ? `[masked: ${kindOfName(name)}]` : redact(value),
    ]),
  );
}
