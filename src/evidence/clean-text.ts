import { visibleText } from '../core/visible-text.js';
import { redact } from '../secrets/redactor.js';

/**
 * Makes text of unknown origin safe to keep and to show (EV-9, EV-10): removes terminal codes and invisible characters
 * and masks secrets that are recognizable in any environment. `Redactor.clean` also knows the secrets of the current
 * one. Idempotent.
 */
export function cleanText(text: string): string {
  return redact(visibleText(text));
}
