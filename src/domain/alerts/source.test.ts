import { expect, test } from 'vitest'
import { listSourceCauses, listSubscriptionCauses, type SubscriptionStatus } from './source.ts'
import { TestAlerts } from './test-alerts.ts'

const source = 'shure:http://x'

test.each<[string, number[], string[]]>([
  ['that fails twice', [1, 2, 0], []],
  ['that keeps failing', [1, 2, 3, 4, 5], ['+upstream_failing critical', '=upstream_failing']],
  ['that recovers', [3, 0, 0], ['+upstream_failing critical', '-upstream_failing']],
  ['that fails once after an alert was raised by another process', [3, 1, 2], ['+upstream_failing critical']],
])('evaluates a source %s', (_, failures, expected) => {
  const alerts = new TestAlerts()
  const changes = failures.flatMap((unsuccessful_cycles) =>
    alerts.compare({
      causes: listSourceCauses({ manufacturer: 'shure', source, unsuccessful_cycles, error: 'refused' }),
      endingOf: () => (unsuccessful_cycles === 0 ? 'resolved' : null),
    }),
  )
  expect(changes).toEqual(expected)
})

test('names the address and the reason', () => {
  const alerts = new TestAlerts()
  const failures = { manufacturer: 'shure', source, unsuccessful_cycles: 3, error: 'Connection refused' }
  alerts.compare({ causes: listSourceCauses(failures), endingOf: () => null })
  expect(alerts.open).toMatchObject([
    {
      message: 'shure failed 3 times in a row (http://x): Connection refused',
      data: { name: 'shure', address: 'http://x', failures: 3, error: 'Connection refused' },
    },
  ])
})

// Conformance: C-7.23.
test.each<[string, Omit<SubscriptionStatus, 'manufacturer' | 'source'>, now: number, causes: number]>([
  ['that is up', { isEnabled: true, isFlapping: false, downSince: null }, 100_000, 0],
  ['that is down for less than a minute', { isEnabled: true, isFlapping: false, downSince: 0 }, 59_999, 0],
  ['that is down for a minute', { isEnabled: true, isFlapping: false, downSince: 0 }, 60_000, 1],
  ['that flaps', { isEnabled: true, isFlapping: true, downSince: 0 }, 1, 1],
  ['that a user has stopped', { isEnabled: false, isFlapping: true, downSince: 0 }, 200_000, 0],
])('lists the causes of a subscription %s', (_, status, now, causes) => {
  expect(listSubscriptionCauses({ manufacturer: 'shure', source, ...status }, now)).toHaveLength(causes)
})
