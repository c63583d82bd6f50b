/** A secret that is recognized by its surroundings. Every quantifier is bounded, since texts may be hostile. */
export interface Place {
  readonly kind: string;
  /** The group `secret` is masked, or the whole match if there is no such group. */
  readonly pattern: RegExp;
  readonly isSecret?: (value: string) => boolean;
}
