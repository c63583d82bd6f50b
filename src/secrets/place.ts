/** A secret that is known by what stands around it. Every quantifier is bounded, since the texts may be hostile. */
export interface Place {
  readonly kind: string;
  /** `secret` is masked; without such a group the whole is. */
  readonly pattern: RegExp;
  readonly isSecret?: (value: string) => boolean;
}
