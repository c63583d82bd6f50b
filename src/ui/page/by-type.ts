import type { StampedEvent } from '../../event.js';

/** What is done for some types of events; the others, and those of a newer self-heal, are passed over. */
export type ByType<Target, Answer> = {
  readonly [Type in StampedEvent['type']]?: (
    target: Target,
    event: Extract<StampedEvent, { type: Type }>,
  ) => Answer;
};

/** Does what the table says for this event; gives undefined where it says nothing. */
export function doByType<Target, Answer>(
  table: ByType<Target, Answer>,
  target: Target,
  event: StampedEvent,
): Answer | undefined {
  const found = Object.hasOwn(table, event.type) ? table[event.type] : undefined;
  // Each entry takes the event that it is found by; a lookup by a union cannot say so.
  return (found as ((target: Target, event: StampedEvent) => Answer) | undefined)?.(target, event);
}
