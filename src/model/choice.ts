/** The part that an offered patch changes: the tests, the app or, for `whole`, also files that no agent may change. A person chooses between them. */
export const sides = ['tests', 'app', 'whole'] as const;

export type Side = (typeof sides)[number];

/** The answers that a person can give (ME-5). `tests`, `app` and `whole` apply that patch and prove it again. */
export const choices = [...sides, 'provide-credentials', 'skip', 'simplify', 'guide'] as const;

export type Choice = (typeof choices)[number];

/** The text of each choice as shown to the user. */
export const choiceText: Record<Choice, string> = {
  tests: 'Change the tests: the new behavior is right',
  app: 'Change the app: the tests are right',
  whole: 'Apply the whole patch, including edits that agents are not allowed to make',
  'provide-credentials': 'I have provided the credentials or the permission; try again',
  skip: 'Skip it: the test is still reported but does not fail the run',
  simplify: 'Have the agent try a simpler version',
  guide: 'Give guidance to the agent',
};

const triesAgain = 'the next run tries again';
const appliesPatch = 'its patch is applied and proven again, without an agent';

/** The consequence of each answer, as the end of a sentence. */
export const consequences: Record<Choice, string> = {
  tests: appliesPatch,
  app: appliesPatch,
  whole: appliesPatch,
  'provide-credentials': triesAgain,
  skip: 'its tests are quarantined',
  simplify: triesAgain,
  guide: triesAgain,
};
