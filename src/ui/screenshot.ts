/** A screenshot of a failure, and the URL at which `self-heal ui` serves it. */
export interface Screenshot {
  readonly signature: string;
  /** Playwright's test id; null for a failure of the suite itself. */
  readonly testId: string | null;
  /** `/runs/<run id>/failures/<n>/screenshot.png` */
  readonly url: string;
}
