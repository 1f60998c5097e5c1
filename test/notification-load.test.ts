/** How long the rules hold the event loop, on which monitoring runs too. */

import { expect, it } from 'vitest'
import { defaultRule } from '../src/domain/notifications/rule.ts'
import { startNotifications } from './notification-kit.ts'

/** Returns the most processor time of one turn of the event loop while `work` runs, in milliseconds. */
async function measureLongestTurn(work: () => Promise<unknown>): Promise<number> {
  let isDone = false
  let longest = 0
  let before = process.cpuUsage()
  const turn = () => {
    const { user, system } = process.cpuUsage(before)
    longest = Math.max(longest, user + system)
    before = process.cpuUsage()
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isDone = true
  return longest / 1000
}

it('applies 10 rules to 1,000 open alerts in slices of less than 20 ms', async () => {
  const kit = await startNotifications(['http://127.0.0.1:9/'])
  const addRules = (ids: readonly number[]) => {
    for (const id of ids) kit.rules.push({ ...defaultRule, id, name: `Rule ${id}`, notification_channel_ids: [1] })
  }
  addRules([2, 3, 4, 5])
  await kit.raise(...Array.from({ length: 1000 }, (_, index) => `alert ${index}`))
  const whenNothingIsDue = await measureLongestTurn(() => kit.queueDue())
  addRules([6, 7, 8, 9, 10])
  const whenAllAreDue = await measureLongestTurn(() => kit.queueDue())
  const [newest] = await kit.list()
  expect([newest?.rule_id, newest?.alert_ids.length]).toEqual([10, 1000])
  // Twice as much as promised, because processor time is dearer on a busy machine and before code is compiled.
  expect(Math.max(whenNothingIsDue, whenAllAreDue)).toBeLessThan(40)
}, 60_000)
