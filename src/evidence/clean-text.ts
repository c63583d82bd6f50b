import { visibleText } from '../core/visible-text.js';
import { redact } from '../secrets/redact.js';

/**
 * Makes text of unknown origin safe to keep and to show (EV-9, EV-10): no terminal codes, no characters that cannot be
 * seen, none of the secrets that any environment would know; `Redactor.clean` knows those of this one as well. Cleaning
 * twice changes nothing.
 */
export function cleanText(text: string): string {
  return redact(visibleText(text));
}
