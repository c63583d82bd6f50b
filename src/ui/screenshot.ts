/** A picture of a failure: which one, and where `self-heal ui` serves it. */
export interface Screenshot {
  readonly signature: string;
  /** Playwright's id of the test; null for a failure of the suite itself. */
  readonly testId: string | null;
  /** `/runs/<run id>/failures/<n>/screenshot.png` */
  readonly url: string;
}
