import { expect, it } from 'vitest'
import type { AlertBody } from '../../src/contract/alerts.ts'
import { newAlerts } from './announcer.tsx'

const alert = (id: number, over: Partial<AlertBody> = {}) =>
  ({ id, kind: 'battery_low', state: 'raised', silenced: false, ...over }) as AlertBody

it('announces an alert once, and again when it gets worse', () => {
  expect(newAlerts(null, [alert(1)])).toEqual([])
  const known = new Set(['1 battery_low'])
  expect(newAlerts(known, [alert(1), alert(2)]).map(({ id }) => id)).toEqual([2])
  expect(newAlerts(known, [alert(1, { kind: 'battery_critical' })])).toHaveLength(1)
})

it('announces neither acknowledged nor silenced alerts', () => {
  const alerts = [alert(1, { state: 'acknowledged' }), alert(2, { silenced: true }), alert(3, { state: 'snoozed' })]
  expect(newAlerts(new Set(), alerts)).toEqual([])
})
