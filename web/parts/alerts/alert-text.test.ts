import { expect, it } from 'vitest'
import { alertKinds, alertKindTable } from '../../../src/contract/alert-kinds.ts'
import { buildAlert } from '../../../test/support/builders.ts'
import { alertLine, alertPeople, alertReason, alertSubject, alertTitle } from './alert-text.ts'

const data = { ...buildAlert().data, name: 'Y13', title: 'Nora', slot: 12, receiver: 'Rack A' }

it.each<[kind: string, values: Partial<typeof data>, line: string, reason: string]>([
  [
    'battery_low',
    { battery: 18, minutes_left: 22, threshold: 20 },
    '12 Nora: Battery low',
    '18% · 22 min left · limit 20%',
  ],
  ['battery_critical', { minutes_left: 12, threshold: 10 }, '12 Nora: Battery critical', '12 min left'],
  ['battery_died', { battery: 6 }, '12 Nora: Battery died', 'The transmitter is off. Its battery was last at 6%.'],
  [
    'rf_weak',
    { threshold: -85 },
    '12 Nora: RF weak',
    'RF is below −85 dBm on every antenna in use, or the link quality is below 20%.',
  ],
  ['no_audio', { threshold: 5 }, '12 Nora: No audio', 'The transmitter is on, but there has been no audio for 5 min.'],
  ['stale', {}, '12 Nora: Stale', 'Nothing is received from Rack A, so the values are old.'],
])('words %s with %j', (kind, values, line, reason) => {
  const alert = buildAlert({ kind, data: { ...data, ...values } })
  expect(alertLine(alert)).toBe(line)
  expect(alertReason(alert)).toBe(reason)
})

it('names the address of a source, the number of failures and the error', () => {
  const failing = { ...buildAlert().data, name: 'shure', address: 'https://10.0.0.1', failures: 3, error: 'Refused.' }
  const alert = buildAlert({ kind: 'upstream_failing', data: failing })
  expect(alertSubject(alert)).toBe('https://10.0.0.1')
  expect(alertReason(alert)).toBe('Refused. 3 polls in a row failed.')
})

it('lists the people of a receiver', () => {
  const people = [
    { slot: 7, title: 'Nora' },
    { slot: 8, title: 'Ben' },
  ]
  expect(alertPeople(buildAlert({ kind: 'receiver_offline', data: { ...data, people } }))).toBe('7 Nora, 8 Ben')
  expect(alertPeople(buildAlert())).toBeNull()
})

it('uses the message of a kind that it does not know', () => {
  const alert = buildAlert({ kind: 'coffee_cold', message: 'The coffee is cold', data })
  expect(alertTitle(alert)).toBe('The coffee is cold')
  expect(alertLine(alert)).toBe('The coffee is cold')
  expect(alertReason(alert)).toBeNull()
})

it('has a title and a reason for every kind', () => {
  for (const kind of alertKinds) {
    const alert = buildAlert({ kind })
    expect(alertTitle(alert)).not.toContain('alerts.')
    expect(alertReason(alert)).toMatch(/^\S.*\.$/)
  }
})

it.each(alertKinds)('calls %s in English what notifications call it', (kind) => {
  expect(alertTitle(buildAlert({ kind }))).toBe(alertKindTable[kind].title)
})
