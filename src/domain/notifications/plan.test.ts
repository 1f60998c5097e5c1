import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alertKinds } from '../../contract/alert-kinds.ts'
import type { NotificationRule } from './rule.ts'
import { type Action, start, TestService, toSet } from './test-plan.ts'

const hour = 3600

// Conformance: C-14.30.
test('queues one message to each notification channel of a rule when an alert is raised', () => {
  const service = new TestService({ notification_channel_ids: [1, 2, 2] })
  service.raise(1)
  service.wait(hour)
  expect(service.queued()).toEqual(['0 s to 1: raised 1', '0 s to 2: raised 1'])
})

test('queues nothing without rules, and nothing to disabled notification channels', () => {
  const without = new TestService()
  without.raise(1)
  const disabled = new TestService({ notification_channel_ids: [1, 9] })
  disabled.enabledChannelIds.delete(1)
  disabled.raise(1)
  disabled.wait(hour)
  expect([...without.queued(), ...disabled.queued()]).toEqual([])
  disabled.enabledChannelIds.add(1)
  disabled.plan()
  expect(disabled.queued()).toEqual(['3600 s to 1: raised 1'])
})

// Conformance: C-14.31, C-21.93.
test.each<[string, Partial<NotificationRule>, boolean]>([
  ['nothing', {}, true],
  ['its kind', { kinds: ['rf_weak', 'battery_low'] }, true],
  ['another kind', { kinds: ['battery_critical'] }, false],
  ['all kinds but its own', { excluded_kinds: ['battery_low'] }, false],
  [
    'its kind, which a rule for all kinds would exclude',
    { kinds: ['battery_low'], excluded_kinds: ['battery_low'] },
    true,
  ],
  ['its severity', { min_severity: 'warning' }, true],
  ['a higher severity', { min_severity: 'critical' }, false],
  ['one of its groups', { group_ids: [9, 4] }, true],
  ['another group', { group_ids: [9] }, false],
  ['its manufacturer', { manufacturers: ['sennheiser', 'shure'] }, true],
  ['another manufacturer', { manufacturers: ['sennheiser'] }, false],
  ['its group and another manufacturer', { group_ids: [4], manufacturers: ['sennheiser'] }, false],
])('a rule may restrict alerts by %s', (_, rule, isSent) => {
  const service = new TestService(rule)
  service.raise(1, 'battery_low', { groupIds: [3, 4] })
  expect(service.queued()).toEqual(isSent ? ['0 s to 1: raised 1'] : [])
})

// Conformance: C-18.23.
test.each<[string, Partial<NotificationRule>, string | null, boolean]>([
  ['without sites, of this installation', {}, null, true],
  ['without sites, of a site', {}, 'theatre', false],
  ['for all, of this installation', { sites: ['*'] }, null, true],
  ['for all, of a site', { sites: ['*'] }, 'theatre', true],
  ['for this installation, of a site', { sites: ['local'] }, 'theatre', false],
  ['for a site, of this installation', { sites: ['theatre'] }, null, false],
  ['for a site, of it', { sites: ['arena', 'theatre'] }, 'theatre', true],
])('a rule %s', (_, rule, code, isSent) => {
  const service = new TestService(rule)
  service.raise(1, 'battery_low', { site: code === null ? null : { code, name: code } })
  expect(service.queued()).toEqual(isSent ? ['0 s to 1: raised 1'] : [])
})

test('alerts about the service belong to no group and no manufacturer', () => {
  const service = new TestService({ group_ids: [4] }, { manufacturers: ['shure'] }, { notification_channel_ids: [3] })
  service.raise(1, 'recording_stopped', { manufacturer: null })
  expect(service.queued()).toEqual(['0 s to 3: raised 1'])
})

// Conformance: C-14.32.
test('one message contains the alerts of 2 seconds, counted from the first', () => {
  const service = new TestService({})
  service.raise(1)
  service.wait(1.5)
  service.raise(2)
  service.wait(0.499)
  service.raise(3)
  service.wait(0.001)
  service.raise(4)
  service.wait(1.5)
  service.raise(5)
  expect(service.queued()).toEqual(['0 s to 1: raised 1+2+3', '2 s to 1: raised 4+5'])
})

test('each rule and each type has a window of its own', () => {
  const service = new TestService({ send_cleared: true }, { notification_channel_ids: [1] })
  service.raise(1)
  service.wait(10)
  service.clear(1)
  service.raise(2)
  expect(service.queued().slice(2)).toEqual(['10 s to 1: cleared 1', '10 s to 1: raised 2', '10 s to 1: raised 2'])
})

// Conformance: C-14.33.
test('an alert that is cleared before the delay of the rule sends nothing', () => {
  const service = new TestService({ delay_seconds: 30, send_cleared: true })
  service.raise(1)
  service.raise(2)
  service.wait(29.999)
  service.clear(1)
  service.wait(hour)
  service.clear(2)
  service.wait(hour)
  expect(service.queued()).toEqual(['30 s to 1: raised 2', '3629.999 s to 1: cleared 2'])
})

test('counts the delay from when the alert was raised', () => {
  const service = new TestService({ delay_seconds: 30 })
  service.raise(1, 'rf_weak', { raised_at: start - 20_000 })
  service.raise(2, 'rf_weak', { raised_at: start - 40_000 })
  service.wait(hour)
  expect(service.queued()).toEqual(['0 s to 1: raised 2', '10 s to 1: raised 1'])
})

// Conformance: C-14.34.
test('sends an alert again after each pause until it is acknowledged', () => {
  const service = new TestService({ repeat_minutes: 5 })
  service.raise(1)
  service.wait(12 * 60)
  service.acknowledge(1)
  service.wait(hour)
  expect(service.queued()).toEqual(['0 s to 1: raised 1', '300 s to 1: repeated 1', '600 s to 1: repeated 1'])
})

test('sends no alert again while a more general problem includes it', () => {
  const service = new TestService({ repeat_minutes: 5 })
  service.raise(1)
  service.wait(60)
  service.change(1, { isInhibited: true })
  service.wait(8 * 60)
  service.change(1, { isInhibited: false })
  expect(service.queued()).toEqual(['0 s to 1: raised 1', '540 s to 1: repeated 1'])
})

// Conformance: C-14.35.
test.each(['acknowledge', 'snooze'] as const)('sends nothing more after users %s an alert', (what) => {
  const service = new TestService({
    delay_seconds: 10,
    repeat_minutes: 1,
    send_cleared: true,
    escalate: { after_seconds: 60, notification_channel_ids: [2] },
  })
  service.raise(1)
  service.raise(2)
  service.wait(5)
  service[what](1)
  service.wait(25)
  service[what](2)
  service.wait(hour)
  service.clear(1)
  service.clear(2)
  service.wait(hour)
  expect(service.queued()).toEqual(['10 s to 1: raised 2'])
})

test('withdraws an alert that is acknowledged before its message is sent', () => {
  const service = new TestService({ notification_channel_ids: [1, 2] })
  service.raise(1)
  service.raise(2)
  service.wait(1)
  service.acknowledge(1)
  expect(service.queued()).toEqual(['0 s to 1: raised 2', '0 s to 2: raised 2'])
  service.acknowledge(2)
  expect(service.queued()).toEqual(['0 s to 1: raised 2 (expired)', '0 s to 2: raised 2 (expired)'])
})

// Conformance: C-14.36.
test('sends a silenced alert when its silence ends, and its end only if it was sent', () => {
  const service = new TestService({ send_cleared: true, repeat_minutes: 1 })
  service.raise(1, 'battery_low', { isSilenced: true })
  service.raise(2, 'battery_low', { isSilenced: true })
  service.wait(600)
  service.clear(2)
  service.change(1, { isSilenced: false })
  service.wait(59)
  expect(service.queued()).toEqual(['600 s to 1: raised 1'])
})

test('sends an alert again when a silence or a snooze of it ends', () => {
  const service = new TestService({})
  service.raise(1)
  service.wait(60)
  service.change(1, { isSilenced: true })
  service.wait(60)
  service.change(1, { isSilenced: false })
  service.wait(60)
  service.snooze(1)
  service.wait(60)
  service.change(1, { snoozed_until: null })
  expect(service.queued()).toEqual(['0 s to 1: raised 1', '120 s to 1: raised 1', '240 s to 1: raised 1'])
})

// Conformance: C-14.37.
test('sends an alert again that gets worse, also if it was acknowledged', () => {
  const service = new TestService({})
  service.raise(1, 'battery_low')
  service.wait(60)
  service.worsen(1, 'battery_critical')
  service.wait(60)
  service.acknowledge(1)
  service.wait(60)
  service.worsen(1, 'battery_died')
  service.wait(60)
  service.change(1, { kind: 'battery_low', severity: 'warning' })
  expect(service.queued()).toEqual(['0 s to 1: raised 1', '60 s to 1: raised 1', '180 s to 1: raised 1'])
})

test('sends an alert once that gets worse before its message is sent', () => {
  const service = new TestService({})
  service.raise(1, 'battery_low')
  service.wait(1)
  service.worsen(1, 'battery_critical')
  expect(service.queued()).toEqual(['0 s to 1: raised 1'])
  expect(service.deliveries[0]?.alerts).toMatchObject([{ id: 1, kind: 'battery_critical', severity: 'critical' }])
})

test('an alert that begins to match a rule is sent by it', () => {
  const service = new TestService({ min_severity: 'critical', send_cleared: true })
  service.raise(1, 'battery_low')
  service.wait(60)
  service.worsen(1, 'battery_critical')
  service.wait(60)
  service.change(1, { kind: 'battery_low', severity: 'warning' })
  service.clear(1)
  expect(service.queued()).toEqual(['60 s to 1: raised 1', '120 s to 1: cleared 1'])
})

// Conformance: C-14.39.
test('a rule during shows sends what is still open when the show begins', () => {
  const service = new TestService({ when: 'during_shows', send_cleared: true, repeat_minutes: 10 })
  service.raise(1)
  service.raise(2)
  service.wait(60)
  service.clear(2)
  service.change(1, { showStartedAt: service.now })
  service.wait(30)
  service.change(1, { showStartedAt: null })
  service.wait(hour)
  expect(service.queued()).toEqual(['60 s to 1: raised 1'])
  service.change(1, { showStartedAt: service.now })
  service.wait(10)
  service.clear(1)
  service.wait(hour)
  expect(service.queued().slice(1)).toEqual(['3690 s to 1: raised 1', '3700 s to 1: cleared 1'])
})

test('a rule with hours sends what is still open when they begin', () => {
  const when = { days: ['mon', 'tue'], from: '20:10', to: '20:20', time_zone: 'Europe/Berlin' } as const
  const service = new TestService({ when, repeat_minutes: 6, send_cleared: true })
  service.raise(1)
  service.raise(2)
  service.wait(5 * 60)
  service.clear(2)
  service.wait(hour)
  service.raise(3)
  service.wait(22 * hour)
  service.clear(3)
  service.wait(2 * hour)
  expect(service.queued()).toEqual([
    '600 s to 1: raised 1',
    '960 s to 1: repeated 1',
    `${24 * hour + 600} s to 1: raised 1`,
    `${24 * hour + 960} s to 1: repeated 1`,
  ])
})

// Conformance: C-14.40.
test('escalates once if nobody acknowledges, counted from the first message', () => {
  const service = new TestService({
    delay_seconds: 10,
    repeat_minutes: 1,
    escalate: { after_seconds: 60, notification_channel_ids: [2, 3] },
  })
  service.raise(1, 'battery_low')
  service.raise(2, 'battery_low')
  service.wait(40)
  service.acknowledge(1)
  service.worsen(2, 'battery_critical')
  service.wait(150)
  expect(service.queued()).toEqual([
    '10 s to 1: raised 1+2',
    '40 s to 1: raised 2',
    '70 s to 2: escalated 2',
    '70 s to 3: escalated 2',
    '100 s to 1: repeated 2',
    '160 s to 1: repeated 2',
  ])
})

test('an alert that gets worse after it was acknowledged is escalated again', () => {
  const service = new TestService({ escalate: { after_seconds: 60, notification_channel_ids: [2] } })
  service.raise(1, 'battery_low')
  service.wait(90)
  service.acknowledge(1)
  service.wait(10)
  service.worsen(1, 'battery_critical')
  service.wait(hour)
  expect(service.queued()).toEqual([
    '0 s to 1: raised 1',
    '60 s to 2: escalated 1',
    '100 s to 1: raised 1',
    '160 s to 2: escalated 1',
  ])
})

test('escalates no alert before the first message about it is sent', () => {
  const service = new TestService({ escalate: { after_seconds: 1, notification_channel_ids: [2] } })
  service.raise(1)
  service.wait(1.5)
  service.raise(2)
  service.wait(hour)
  expect(service.queued()).toEqual(['0 s to 1: raised 1+2', '2 s to 2: escalated 1+2'])
})

test('escalates also if every other notification channel of the rule is disabled', () => {
  const service = new TestService({ delay_seconds: 5, escalate: { after_seconds: 60, notification_channel_ids: [2] } })
  service.enabledChannelIds.delete(1)
  service.raise(1)
  service.wait(hour)
  expect(service.queued()).toEqual(['65 s to 2: escalated 1'])
})

// Conformance: C-14.41.
test('sends the end of an alert to the notification channels that got the alert, once each', () => {
  const service = new TestService({
    notification_channel_ids: [1, 2],
    send_cleared: true,
    escalate: { after_seconds: 60, notification_channel_ids: [3] },
  })
  service.results.set(2, 'failed')
  service.raise(1)
  service.raise(2)
  service.wait(30)
  service.clear(1)
  service.wait(60)
  service.clear(2)
  service.wait(hour)
  expect(service.queued().slice(2)).toEqual([
    '30 s to 1: cleared 1',
    '60 s to 3: escalated 2',
    '90 s to 1: cleared 2',
    '90 s to 3: cleared 2',
  ])
})

test('sends the end of an alert after its message, which is still sent', () => {
  const service = new TestService({ send_cleared: true })
  service.raise(1)
  service.wait(1)
  service.clear(1)
  service.wait(hour)
  expect(service.queued()).toEqual(['0 s to 1: raised 1', '2 s to 1: cleared 1'])
})

test('a rule that is added sends the alerts that are open, and one that is changed sends none of them again', () => {
  const service = new TestService({})
  service.raise(1)
  service.wait(60)
  service.rules = service.rules.flatMap((rule) => [
    { ...rule, name: 'Renamed' },
    { ...rule, id: 2, notification_channel_ids: [2] },
  ])
  service.plan()
  expect(service.queued()).toEqual(['0 s to 1: raised 1', '60 s to 2: raised 1'])
})

test('sends nothing late, twice or in a loop when the clock is set back', () => {
  const service = new TestService({
    delay_seconds: 30,
    repeat_minutes: 60,
    when: 'during_shows',
    escalate: { after_seconds: 60, notification_channel_ids: [2] },
  })
  service.raise(1, 'battery_low', { showStartedAt: start })
  service.now -= 2 * hour * 1000
  service.plan()
  service.wait(70)
  expect(service.queued()).toEqual([`${-2 * hour} s to 1: raised 1`, `${-2 * hour + 60} s to 2: escalated 1`])
})

const testRules = fc.array(
  fc.record({
    notification_channel_ids: fc.subarray([1, 2]),
    min_severity: fc.constantFrom('info', 'warning', 'critical'),
    delay_seconds: fc.constantFrom(0, 0, 10, 100),
    repeat_minutes: fc.constantFrom(0, 1, 3),
    send_cleared: fc.boolean(),
    when: fc.constantFrom('always', 'during_shows'),
    escalate: fc.option(
      fc.record({ after_seconds: fc.constantFrom(1, 30, 200), notification_channel_ids: fc.subarray([2, 3]) }),
    ),
  }),
  { minLength: 1, maxLength: 3 },
)

const histories = fc.array(
  fc.record({
    /** After which seconds; never a pause of a rule, so that nothing is due at the moment of a change. */
    seconds: fc.integer({ min: 0, max: 150_000 }).map((milliseconds) => (milliseconds + 0.123) / 1000),
    what: fc.constantFrom<Action>(
      'raise',
      'raise',
      'acknowledge',
      'snooze',
      'silence',
      'show',
      'inhibit',
      'worsen',
      'clear',
    ),
    /** Which of the alerts. */
    index: fc.nat(),
    kind: fc.constantFrom(...alertKinds),
    isStopped: fc.boolean(),
  }),
  { maxLength: 25 },
)

// Conformance: C-14.42.
test('queues the same messages with and without stops of the service', () => {
  fc.assert(
    fc.property(testRules, histories, (rules, history) => {
      const [running, stopped] = [new TestService(...rules), new TestService(...rules)]
      for (const { seconds, what, index, kind, isStopped } of history) {
        running.wait(seconds)
        if (isStopped) stopped.stop(seconds)
        else stopped.wait(seconds)
        for (const service of [running, stopped]) {
          // Until the repetitions and escalations have been queued that were late.
          if (isStopped) service.wait(1000)
          service.act(what, index, kind)
        }
      }
      // Shorter than the end of an alert is still sent.
      stopped.stop(150)
      stopped.wait(1000)
      running.wait(1150)
      expect(toSet(stopped)).toEqual(toSet(running))
    }),
    { numRuns: 150 },
  )
})

test('queues the same messages at the same times, however often it is planned', () => {
  fc.assert(
    fc.property(testRules, histories, (rules, history) => {
      const [service, often] = [new TestService(...rules), new TestService(...rules)]
      for (const { seconds, what, index, kind } of history) {
        service.wait(seconds)
        for (let i = 0; i < 5; i++) {
          often.wait(seconds / 5)
          often.plan()
        }
        often.now = service.now
        for (const each of [service, often]) each.act(what, index, kind)
      }
      expect(often.queued()).toEqual(service.queued())
    }),
    { numRuns: 150 },
  )
})
