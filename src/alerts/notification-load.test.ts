/** Rules do not hold the event loop, on which monitoring runs too. */

import { expect, it } from 'vitest'
import { startNotifications } from '../../test/support/notifications/notification-kit.ts'
import { defaultRule } from '../domain/notifications/rule.ts'

/** Returns how many turns of the event loop began while `work` ran. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let isDone = false
  let turns = 0
  const turn = () => {
    turns += 1
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isDone = true
  return turns
}

it('applies 10 rules to 1,000 open alerts in slices, between which monitoring continues', async () => {
  const kit = await startNotifications(['http://127.0.0.1:9/'])
  const addRules = (ids: readonly number[]) => {
    for (const id of ids)
      kit.rules.push({ ...defaultRule, id, name: `Rule ${id}`, notification_channel_ids: [1], version: 1 })
  }
  addRules([2, 3, 4, 5])
  await kit.raise(...Array.from({ length: 1000 }, (_, index) => `alert ${index}`))
  const whenNothingIsDue = await countTurns(() => kit.queueDue())
  addRules([6, 7, 8, 9, 10])
  const whenAllAreDue = await countTurns(() => kit.queueDue())
  const [newest] = await kit.list()
  expect([newest?.rule_id, newest?.alert_ids.length]).toEqual([10, 1000])
  expect(Math.min(whenNothingIsDue, whenAllAreDue)).toBeGreaterThan(1)
})
