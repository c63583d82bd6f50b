import { test } from 'playwright/test';

test('the shop is open', async ({ request }) => {
  const page = await request.get('/opening');
  // A message that agents.yaml matches, so that this failure goes to the hanging agent.
  if (!(await page.text()).includes('>open<')) throw new Error('opening hours are unknown');
});
